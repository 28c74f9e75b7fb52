/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CORE_XML_SAX_H
#define SIGHT_CORE_XML_SAX_H

#include "core/input.h"
#include "core/xml_text.h"

#include <libxml/parser.h>

/* libxml2's push parser over an input: no tree, no entities, nothing but the file itself. Elements and attributes are
   passed by number, from the owner's lists of words; all others are skipped. */

struct xml_words {
    const char *const *elements;
    size_t element_count;
    const char *const *attributes;
    size_t attribute_count; /* at most XML_SAX_ATTRIBUTES */
};

enum { XML_SAX_ATTRIBUTES = 192, XML_SAX_NAMES = 512, XML_SAX_NO_ELEMENT = 255 };

/* Pointers of the parser's dictionary: names are compared by address. */
struct xml_name {
    const xmlChar *name;
    uint8_t attribute, element; /* 1 + the number; 0: none */
};

struct xml_sax {
    struct input *input;
    const struct xml_words *words;
    void *owner;
    /* The first element, whatever its name; then each element that is known, the root too. Their attributes are in
       `values`, if their bit in `present` is set; borrowed until the call returns. */
    void (*root)(void *owner, const char *name);
    void (*element)(void *owner, unsigned element);
    /* The text is not well-formed or not acceptable: gets the reason and the byte in the (decompressed) file. */
    void (*fault)(void *owner, uint64_t byte, const char *text);
    struct xml_value values[XML_SAX_ATTRIBUTES];
    uint64_t present[XML_SAX_ATTRIBUTES / 64];
    bool stopped; /* nothing more is parsed */
    /* Internal. */
    xmlParserCtxtPtr parser;
    struct xml_name names[XML_SAX_NAMES];
    bool root_met, at_end;
    size_t tag_bytes, tag_attributes; /* since the last '<'; attributes at most */
    size_t declarations;              /* of attributes */
};

static inline bool xml_sax_has(const struct xml_sax *sax, unsigned attribute)
{
    return sax->present[attribute / 64] >> attribute % 64 & 1;
}

/* Starts the parser; the owner has filled the fields above "Internal". */
enum status xml_sax_open(struct xml_sax *sax, struct error *err) MUST_CHECK;

/* Parses the next piece of the input. STATUS_END: there is no more, or the parser has stopped. */
enum status xml_sax_next(struct xml_sax *sax, struct error *err) MUST_CHECK;

/* Ends parsing. True if the document was well-formed to its end. */
bool xml_sax_finish(struct xml_sax *sax);

void xml_sax_stop(struct xml_sax *sax);

/* Byte at which the element at hand begins. */
uint64_t xml_sax_byte(const struct xml_sax *sax);

/* Bytes of the input that the parser has taken. */
uint64_t xml_sax_consumed(const struct xml_sax *sax);

void xml_sax_close(struct xml_sax *sax);

#endif
