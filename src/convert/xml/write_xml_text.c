/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes and lines of the trace XML. */
#include "convert/xml/write_xml.h"

void xml_put_attribute_i64(struct xml_line *line, const char *name, int64_t value)
{
    XML_PUT(line, " ");
    xml_put_bytes(line, name, strlen(name));
    XML_PUT(line, "=\"");
    xml_put_i64(line, value);
    XML_PUT(line, "\"");
}

void xml_put_attribute_text(struct xml_line *line, const char *name, const char *text)
{
    if (!text)
        return;
    XML_PUT(line, " ");
    xml_put_bytes(line, name, strlen(name));
    XML_PUT(line, "=\"");
    xml_put_utf8(line, text);
    XML_PUT(line, "\"");
}

void xml_put_comm(struct xml_writer *xml, const char *name, int32_t comm)
{
    if (comm >= 0 && (size_t)comm < xml->defs->comm_count)
        xml_put_attribute_i64(&xml->line, name, xml->defs->comms[comm].id);
    else
        xml_put_attribute_text(&xml->line, name, "unknown");
}

void xml_end_line(struct xml_writer *xml)
{
    XML_PUT(&xml->line, "/>\n");
    output_write(xml->writer.output, xml->line.text, xml->line.length);
    xml->line.length = 0;
}
