/* SPDX-License-Identifier: BSD-3-Clause */
#include "render/reports/page.h"

#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "render/reports/markup.h"

#include <glib.h>

/* Sorts a table by the column whose button was pressed. */
static const char script[] =
    "for(const b of document.querySelectorAll('th button'))b.addEventListener('click',()=>{"
    "const h=b.parentElement,t=h.closest('table'),i=h.cellIndex,d=h.getAttribute('aria-sort')==='descending'?1:-1;"
    "for(const o of t.tHead.rows[0].cells)o.removeAttribute('aria-sort');"
    "h.setAttribute('aria-sort',d<0?'descending':'ascending');"
    "const v=r=>{const c=r.cells[i],k=c.dataset.v;return k===undefined?c.textContent:+k};"
    "const r=[...t.tBodies[0].rows];"
    "r.sort((x,y)=>{const a=v(x),c=v(y);return d*(typeof a==='number'&&typeof c==='number'?a-c:"
    "String(a).localeCompare(String(c)))});t.tBodies[0].append(...r)});";

/* c0 is text, c1 the ground, c2 muted: see theme.h. */
static const char style[] =
    "*{box-sizing:border-box}html{color-scheme:light dark}\n"
    "body{margin:0 auto;max-width:1060px;padding:32px 24px 64px;background:var(--c1);color:var(--c0);"
    "font:15px/1.5 system-ui,'Liberation Sans',Arial,'DejaVu Sans',sans-serif}\n"
    "h1{font-size:26px;line-height:1.25;margin:0 0 4px}h2{font-size:19px;margin:44px 0 "
    "12px}h3{font-size:15px;margin:0}\n"
    "p{margin:6px 0}.muted{color:var(--c2)}.verdict{font-size:19px;margin:18px 0}\n"
    ".damage{border-left:4px solid var(--accent);padding:6px 12px;margin:14px 0}\n"
    "ul.figures{list-style:none;padding:0;display:grid;grid-template-columns:repeat(auto-fit,minmax(150px,1fr));gap:"
    "12px;margin:20px 0}\n"
    ".figures li{border:1px solid var(--line);border-radius:8px;padding:10px 14px;display:flex;flex-direction:column;"
    "justify-content:space-between}\n"
    ".figures b{display:block;font-size:22px;font-weight:600}.figures span{font-size:13px;color:var(--c2)}\n"
    "article{border:1px solid var(--line);border-radius:8px;padding:14px 18px;margin:12px 0}\n"
    "article header{display:flex;justify-content:space-between;gap:4px 16px;align-items:baseline}\n"
    "@media(max-width:640px){article header{flex-wrap:wrap}}\n"
    ".badge{border-radius:99px;padding:1px 12px;font-size:13px;font-weight:600;white-space:nowrap;border:1px solid}\n"
    ".good{color:var(--good)}.fair{color:var(--fair)}.poor{color:var(--accent)}.unknown{color:var(--c2)}\n"
    ".numbers{white-space:pre-wrap;font-variant-numeric:tabular-nums}ul.advice{list-style:'\\2192\\00a0';padding-left:"
    "20px;margin:8px 0 0}\n"
    "a{color:var(--link)}nav.contents{font-size:14px}nav.contents ul,nav.contents ol{margin:0;padding:0 0 0 18px}\n"
    "nav.contents>ul{list-style:none;padding:0;margin:0 0 6px;display:flex;flex-wrap:wrap;gap:4px 28px}\n"
    ".nested>li{flex:1 1 300px}.nested>li:last-child{flex:2 1 460px}nav.contents .nested ul{list-style:none;padding:0;"
    "columns:2 210px}.nested ol li::first-letter{text-transform:uppercase}\n"
    "table.source td{padding:0 10px;border:0}table.source code{white-space:pre}table.source .poor{font-weight:600}\n"
    "dt{font-weight:600}dd{margin:0 0 8px}\n"
    ".see{font-size:13px;color:var(--c2)}:target{scroll-margin-top:12px}\n"
    "article:target,figure:target{outline:2px solid var(--link);outline-offset:2px}\n"
    "details{margin-top:8px;font-size:13px;color:var(--c2)}summary{cursor:pointer}\n"
    "figure{margin:22px 0;border:1px solid var(--line);border-radius:8px;overflow:hidden}svg{display:block;width:100%;"
    "height:auto}\n"
    ".wide{overflow-x:auto}table{border-collapse:collapse;width:100%;font-size:13px;font-variant-numeric:tabular-nums}"
    "\n"
    "th,td{padding:4px 10px;text-align:right;white-space:nowrap;border-bottom:1px solid var(--line)}\n"
    "th.left,td.left{text-align:left}th button{all:unset;cursor:pointer;font-weight:600}\n"
    "th button:focus-visible{outline:2px solid var(--c7)}th[aria-sort=descending] button::after{content:' \\2193'}\n"
    "th[aria-sort=ascending] button::after{content:' \\2191'}footer{margin-top:48px;font-size:13px}\n"
    "@media "
    "print{body{max-width:none;padding:0;font-size:11px}figure,article{break-inside:avoid}.wide{overflow:visible}h2{"
    "break-after:avoid}"
    "details,nav.contents,.see{display:none}}\n";

void page_element(struct output *output, const char *open, const char *text, const char *close)
{
    output_text(output, open);
    markup_write(output, text);
    output_text(output, close);
}

void page_write_colours(struct output *output, enum theme theme)
{
    if (theme == THEME_DARK)
        output_text(output, "--accent:#FF8A5C;--link:#7FB6EA;--good:#6CC58F;--fair:#E0B44C;--line:#333A45;");
    else
        output_text(output, "--accent:#B23A12;--link:#2B5F92;--good:#2B7A4B;--fair:#8A6100;--line:#DDE1E7;");
}

static void write_page_colours(struct output *output)
{
    output_text(output, ":root{");
    page_write_colours(output, THEME_LIGHT);
    output_text(output, "}@media (prefers-color-scheme:dark){:root{");
    page_write_colours(output, THEME_DARK);
    /* Paper is white, whatever the reader's screen is set to. */
    output_text(output, "}}@media print{:root{");
    page_write_colours(output, THEME_LIGHT);
    output_text(output, "}}\n");
}

/* The page's policy names its script by the SHA-256 of its text: no other runs. */
static void write_policy(struct output *output, const struct page_extras *extras)
{
    guint8 digest[32];
    gsize size = sizeof digest;
    GChecksum *checksum = g_checksum_new(G_CHECKSUM_SHA256);
    /* Both scripts are one element: one hash, and names of traces cannot become code even if an escape were missing. */
    g_checksum_update(checksum, (const guchar *)script, -1);
    if (extras)
        g_checksum_update(checksum, (const guchar *)extras->script, -1);
    g_checksum_get_digest(checksum, digest, &size);
    char *hash = g_base64_encode(digest, size);
    /* Nothing is loaded from anywhere: a report may be opened years later, or without a network. */
    output_print(output,
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
                 "'unsafe-inline'; script-src 'sha256-%s'; base-uri 'none'; form-action 'none'\">\n",
                 hash);
    g_free(hash);
    g_checksum_free(checksum);
}

void page_begin(struct output *output, const char *title, const struct page_extras *extras)
{
    output_text(output, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n");
    write_policy(output, extras);
    output_text(output, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                        "<meta name=\"generator\" content=\"SIGHT " PACKAGE_VERSION "\">\n");
    page_element(output, "<title>", title, "</title>\n");
    output_text(output, "<style>\n");
    theme_write_css(output);
    write_page_colours(output);
    output_text(output, style);
    /* The page's own rules come last, and win. */
    if (extras)
        output_text(output, extras->style);
    output_text(output, "</style>\n</head>\n<body>\n");
}

void page_end(struct output *output, const struct page_extras *extras)
{
    output_text(output, "<script>");
    output_text(output, script);
    if (extras)
        output_text(output, extras->script);
    output_text(output, "</script>\n</body>\n</html>\n");
}

void page_th(struct output *output, const char *title, bool left)
{
    const char *class = left ? " class=\"left\"" : "";
    /* A button within the heading can be reached by keyboard, which a heading with a handler cannot. */
    output_print(output, "<th scope=\"col\"%s><button type=\"button\">", class);
    page_element(output, "", title, "</button></th>");
}

static void page_td_begin(struct output *output, bool left)
{
    if (left)
        output_text(output, "<td class=\"left\"");
    else
        output_text(output, "<td");
}

void page_td(struct output *output, const char *text, const char *raw, bool left)
{
    page_td_begin(output, left);
    if (raw)
        page_element(output, " data-v=\"", raw, "\"");
    page_element(output, ">", text, "</td>");
}

static bool is_number(enum value_kind kind)
{
    return kind != VALUE_NULL && kind != VALUE_TEXT && kind != VALUE_BOOL;
}

void page_table_begin(struct output *output, const struct field *fields, size_t count, const void *context,
                      const void *sample)
{
    output_text(output, "<div class=\"wide\"><table>\n<thead><tr>");
    for (size_t i = 0; i < count; i++)
        if (fields[i].title)
            /* Whether a column is one of texts is known of its values only: the first row is taken for all. */
            page_th(output, fields[i].title, value_is_words(fields[i].get(context, sample)));
    output_text(output, "</tr></thead>\n<tbody>\n");
}

void page_table_row(struct output *output, const struct field *fields, size_t count, const void *context,
                    const void *row)
{
    char text[VALUE_TEXT_SIZE];
    output_text(output, "<tr>");
    for (size_t i = 0; i < count; i++) {
        if (!fields[i].title)
            continue;
        struct value value = fields[i].get(context, row);
        value_text_for_people(text, value);
        page_td_begin(output, value_is_words(value));
        /* Columns sort by the exact value: "1.20 s" and "950 ms" would not as texts. */
        if (is_number(value.kind)) {
            output_text(output, " data-v=\"");
            value_write_csv(output, value);
            output_text(output, "\"");
        }
        page_element(output, ">", text, "</td>");
    }
    output_text(output, "</tr>\n");
}

/* Wide tables scroll by themselves: the page keeps its width on a small screen. */
void page_table_end(struct output *output)
{
    output_text(output, "</tbody></table></div>\n");
}

void page_table_most(struct output *output, const char *heading, const struct field *fields, size_t field_count,
                     const void *context, const void *rows, size_t size, size_t count, size_t most)
{
    if (count == 0)
        return;
    page_element(output, "<h2>", heading, "</h2>\n");
    page_table_begin(output, fields, field_count, context, rows);
    for (size_t i = 0; i < count && i < most; i++)
        page_table_row(output, fields, field_count, context, (const char *)rows + i * size);
    page_table_end(output);
    if (count > most)
        output_print(output, "<p class=\"muted\">The %zu with the most time, of %zu.</p>\n", most, count);
}
