/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/xml_sax.h"

#include "core/map.h"
#include "core/numbers.h"

#include <stdio.h>
#include <string.h>

enum {
    CHUNK = 16 << 10,
    NESTING_LIMIT = 256,
    LONG_TAG = 4 << 10,      /* bytes; only in longer ones attributes are counted */
    ATTRIBUTE_LIMIT = 2000,  /* of one tag: libxml2 compares each with all others */
    DECLARATION_LIMIT = 1000 /* of attributes in the document itself: each tag may get all of them */
};

uint64_t xml_sax_consumed(const struct xml_sax *sax)
{
    long consumed = xmlByteConsumed(sax->parser);
    if (consumed >= 0 && (uint64_t)consumed < sax->input->offset)
        return (uint64_t)consumed;
    return sax->input->offset;
}

/* The parser is positioned after the element's attributes, which contain no '<'. */
uint64_t xml_sax_byte(const struct xml_sax *sax)
{
    long consumed = xmlByteConsumed(sax->parser);
    if (consumed < 0)
        return sax->input->offset;
    const xmlParserInput *input = sax->parser->input;
    const xmlChar *at = input->cur;
    while (at > input->base && *at != '<')
        at--;
    return (uint64_t)consumed - (uint64_t)(*at == '<' ? input->cur - at : 0);
}

static size_t name_place(const xmlChar *name)
{
    /* Names of the dictionary are unique pointers: comparing them is comparing the names. */
    uint64_t hash = map_hash((uintptr_t)name >> 1);
    return (size_t)(hash >> 24) % XML_SAX_NAMES;
}

/* The row of a name of the dictionary; its name is NULL if it is unknown. */
static struct xml_name *name_find(struct xml_sax *sax, const xmlChar *name)
{
    size_t at = name_place(name);
    while (sax->names[at].name && sax->names[at].name != name)
        at = (at + 1) % XML_SAX_NAMES;
    return &sax->names[at];
}

static struct xml_name *name_intern(struct xml_sax *sax, const char *word)
{
    const xmlChar *name = xmlDictLookup(sax->parser->dict, (const xmlChar *)word, -1);
    struct xml_name *place = name_find(sax, name);
    place->name = name;
    return place;
}

static void intern_names(struct xml_sax *sax)
{
    for (size_t i = 0; i < sax->words->attribute_count; i++)
        name_intern(sax, sax->words->attributes[i])->attribute = (uint8_t)(1 + i);
    for (size_t i = 0; i < sax->words->element_count; i++)
        name_intern(sax, sax->words->elements[i])->element = (uint8_t)(1 + i);
}

void xml_sax_stop(struct xml_sax *sax)
{
    sax->stopped = true;
    xmlStopParser(sax->parser);
}

static void refuse(struct xml_sax *sax, const char *why)
{
    if (sax->stopped)
        return;
    sax->fault(sax->owner, xml_sax_byte(sax), why);
    xml_sax_stop(sax);
}

static void take_attributes(struct xml_sax *sax, const xmlChar **attributes, int count)
{
    memset(sax->present, 0, sizeof sax->present);
    /* libxml2's SAX2: five pointers for each attribute – name, prefix, URI, begin and end of the value. */
    for (int i = 0; i < count; i++, attributes += 5) {
        const struct xml_name *known = name_find(sax, attributes[0]);
        /* Attributes with a prefix belong to another vocabulary. */
        if (!known->name || !known->attribute || attributes[1])
            continue;
        unsigned number = known->attribute - 1u;
        sax->present[number / 64] |= UINT64_C(1) << number % 64;
        sax->values[number] = (struct xml_value){(const char *)attributes[3], (size_t)(attributes[4] - attributes[3])};
    }
}

static void start_element(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespaces,
                          const xmlChar **namespace_list, int attribute_count, int defaulted,
                          const xmlChar **attributes)
{
    (void)prefix, (void)uri, (void)namespaces, (void)namespace_list, (void)defaulted;
    struct xml_sax *sax = context;
    if (sax->stopped)
        return;
    /* At the end of a document that was cut, the parser hands over the tag it is in, with the attributes so far. */
    const xmlChar *end = sax->parser->input->cur;
    if (*end != '>' && !(*end == '/' && end[1] == '>'))
        return;
    if (sax->parser->nameNr > NESTING_LIMIT) {
        refuse(sax, "elements are nested too deep (limit 256)");
        return;
    }
    const struct xml_name *known = name_find(sax, name);
    bool ours = known->name && known->element;
    /* The root is handed over even if unknown: it says which format this is. */
    if (!ours && sax->root_met)
        return;
    take_attributes(sax, attributes, attribute_count);
    if (!sax->root_met) {
        sax->root_met = true;
        sax->root(sax->owner, (const char *)name);
    }
    if (ours && !sax->stopped)
        sax->element(sax->owner, known->element - 1u);
}

static void count_declaration(void *context, const xmlChar *element, const xmlChar *name, int type, int def,
                              const xmlChar *value, xmlEnumerationPtr tree)
{
    (void)element, (void)name, (void)type, (void)def, (void)value;
    struct xml_sax *sax = context;
    /* Ours to free: libxml2's own handler does it too. */
    xmlFreeEnumeration(tree);
    if (++sax->declarations > DECLARATION_LIMIT)
        refuse(sax, "too many attributes are declared (limit 1,000)");
}

/* Entities can make small files huge and read other files; our documents need none. */
static void refuse_entity(void *context, const xmlChar *name, int type, const xmlChar *public_id,
                          const xmlChar *system_id, xmlChar *content)
{
    (void)name, (void)type, (void)public_id, (void)system_id, (void)content;
    refuse(context, "entity declarations are not accepted");
}

static void refuse_unparsed_entity(void *context, const xmlChar *name, const xmlChar *public_id,
                                   const xmlChar *system_id, const xmlChar *notation)
{
    (void)notation;
    refuse_entity(context, name, 0, public_id, system_id, NULL);
}

static void note_error(void *context, xmlErrorPtr error)
{
    struct xml_sax *sax = context;
    bool fatal = error->level == XML_ERR_FATAL;
    /* All other warnings and errors leave the document readable. */
    if (sax->stopped || !(fatal || error->code == XML_WAR_UNDECLARED_ENTITY))
        return;
    const char *text = error->message ? error->message : "not well-formed";
    /* libxml2 has one message for both too much and too little. */
    if (sax->at_end && error->code == XML_ERR_DOCUMENT_END)
        text = "the document ends before its last end tag";
    long consumed = xmlByteConsumed(sax->parser);
    char line[256];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
    sax->fault(sax->owner, consumed >= 0 ? (uint64_t)consumed : sax->input->offset, line);
    sax->stopped |= fatal;
}

/* Swallows what libxml2 would print: faults of the encoding are not passed to the parser, but show in the result. */
static void ignore_message(void *context, const char *format, ...)
{
    (void)context;
    (void)format;
}

enum status xml_sax_open(struct xml_sax *sax, struct error *err)
{
    xmlSetGenericErrorFunc(NULL, ignore_message);
    if (input_need(sax->input, 4, err) == STATUS_FAILED)
        return STATUS_FAILED;
    xmlSAXHandler handler = {
        .initialized = XML_SAX2_MAGIC,
        .startElementNs = start_element,
        .entityDecl = refuse_entity,
        .unparsedEntityDecl = refuse_unparsed_entity,
        .attributeDecl = count_declaration,
        .serror = note_error,
    };
    /* The parser detects the encoding from the first four bytes. */
    int first = input_available(sax->input) < 4 ? 0 : 4;
    sax->parser = xmlCreatePushParserCtxt(&handler, sax, (const char *)sax->input->at, first, NULL);
    if (!sax->parser)
        return error_set(err, ERROR_INPUT, "%s: cannot start the XML parser", sax->input->name);
    input_consume(sax->input, (size_t)first);
    /* Without NOENT the parser hands &amp; over as &#38;. There are no other entities: see refuse_entity. */
    xmlCtxtUseOptions(sax->parser, XML_PARSE_NONET | XML_PARSE_NOENT);
    intern_names(sax);
    return STATUS_OK;
}

/* True if the tag that these bytes go on with has too many attributes. What stands between two '<' holds one tag. */
static bool has_too_many_attributes(struct xml_sax *sax, const unsigned char *at, size_t length)
{
    const unsigned char *end = at + length;
    while (at < end) {
        const unsigned char *next = memchr(at, '<', (size_t)(end - at)), *stop = next ? next : end;
        sax->tag_bytes += (size_t)(stop - at);
        if (sax->tag_bytes > LONG_TAG)
            for (const unsigned char *c = at; c < stop; c++)
                sax->tag_attributes += *c == '=';
        if (sax->tag_attributes > ATTRIBUTE_LIMIT)
            return true;
        if (next)
            sax->tag_bytes = sax->tag_attributes = 0;
        at = next ? next + 1 : end;
    }
    return false;
}

enum status xml_sax_next(struct xml_sax *sax, struct error *err)
{
    enum status status = sax->stopped ? STATUS_END : input_need(sax->input, 1, err);
    if (status != STATUS_OK)
        return status;
    size_t length = smaller(input_available(sax->input), CHUNK);
    if (has_too_many_attributes(sax, sax->input->at, length)) {
        refuse(sax, "a tag has too many attributes (limit 2,000)");
        return STATUS_OK;
    }
    xmlParseChunk(sax->parser, (const char *)sax->input->at, (int)length, 0);
    input_consume(sax->input, length);
    return STATUS_OK;
}

bool xml_sax_finish(struct xml_sax *sax)
{
    sax->at_end = true;
    if (!sax->stopped)
        xmlParseChunk(sax->parser, "", 0, 1);
    bool whole = !sax->stopped && sax->parser->wellFormed;
    sax->stopped = true;
    return whole;
}

void xml_sax_close(struct xml_sax *sax)
{
    if (!sax->parser)
        return;
    xmlFreeDoc(sax->parser->myDoc);
    xmlFreeParserCtxt(sax->parser);
    sax->parser = NULL;
}
