/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_GRAPH_GRAPH_IMAGE_H
#define SIGHT_GRAPH_GRAPH_IMAGE_H

#include "graph/graph.h"

/* A finished graph as one block of bytes, which several processes on a machine can map and use in place. It is for
   processes of the same program: the bytes are as in memory, and nothing checks them. */

/* Bytes of the graph's image. */
size_t graph_image_size(struct graph *graph);

/* Moves the graph into an image of so many zeroed bytes, aligned for any type. Frees the graph as it goes, so that both
   together take little more memory than one. */
void graph_image_move(struct graph *graph, void *image);

/* The graph of an image, which is mapped by mmap and only read: graph_free unmaps it. `defs` are equal to those that
   the graph was built with, and live as long. */
struct graph *graph_of_image(void *image, size_t size, const struct defs *defs);

/* For graph_free: a graph of an image. */
void graph_image_free(struct graph *graph);

#endif
