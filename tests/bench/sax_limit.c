/* SPDX-License-Identifier: BSD-3-Clause */
/* sax_limit FILE.xml: libxml2's SAX2 parser with handlers that do nothing. The yardstick for reading XML. */
#include <libxml/parser.h>
#include <stdio.h>
#include <string.h>

static long elements;

static void on_start(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri, int namespaces,
                     const xmlChar **namespace, int attributes, int defaulted, const xmlChar **attribute)
{
    (void)context, (void)name, (void)prefix, (void)uri, (void)namespaces, (void)namespace;
    (void)attributes, (void)defaulted, (void)attribute;
    elements++;
}

static void on_end(void *context, const xmlChar *name, const xmlChar *prefix, const xmlChar *uri)
{
    (void)context, (void)name, (void)prefix, (void)uri;
}

int main(int argc, char **argv)
{
    static char chunk[1 << 16];
    xmlSAXHandler handler;
    memset(&handler, 0, sizeof handler);
    handler.initialized = XML_SAX2_MAGIC;
    handler.startElementNs = on_start;
    handler.endElementNs = on_end;
    FILE *file = argc > 1 ? fopen(argv[1], "rb") : NULL;
    if (!file)
        return 1;
    xmlParserCtxtPtr parser = xmlCreatePushParserCtxt(&handler, NULL, NULL, 0, argv[1]);
    size_t length;
    while ((length = fread(chunk, 1, sizeof chunk, file)) > 0)
        xmlParseChunk(parser, chunk, (int)length, 0);
    xmlParseChunk(parser, chunk, 0, 1);
    int good = parser->wellFormed;
    xmlFreeParserCtxt(parser);
    fclose(file);
    printf("%ld elements\n", elements);
    return good ? 0 : 1;
}
