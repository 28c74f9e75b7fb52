/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_RENDER_REPORTS_SEARCH_REPORT_H
#define SIGHT_RENDER_REPORTS_SEARCH_REPORT_H

#include "core/output.h"
#include "core/text.h"
#include "metrics/metrics.h"

/* The search for bottlenecks, written. The metrics have one. */

/* A tree of the true tests in 80 columns, then counts of the others; all of them if requested. */
void search_write_text(struct output *output, const struct metrics *metrics, const char *title, bool all);

/* Schema sight-search/1: see sight-search(1). */
void search_write_json(struct output *output, const struct metrics *metrics);

/* A graph in the language of Graphviz: what is true in colour; what another hypothesis would explain as well has a
   dashed line from it. */
void search_write_dot(struct output *output, const struct metrics *metrics);

/* The search as an element of a metrics file (sight-metrics(5)); nothing where there is none. */
void search_write_xml(struct output *output, const struct metrics *metrics);

/* "54 %", "1.2 MB/s", "-" where it is not known: a value in its unit. */
char *search_value_text(char buffer[TEXT_NUMBER_SIZE], const struct search_node *node);

/* Answers in a sentence without full stop: the deepest true test with most time. */
enum { SEARCH_SENTENCE_SIZE = 600 };
char *search_sentence(char sentence[SEARCH_SENTENCE_SIZE], const struct search *search);

/* The node that the sentence is of; SIZE_MAX: nothing is true. */
size_t search_main_node(const struct search *search);

/* "receivers wait for late senders: processes 1–7, in MPI_Recv": a node with those that it narrows. */
char *search_path_text(char text[SEARCH_SENTENCE_SIZE], const struct search *search, size_t node);

#endif
