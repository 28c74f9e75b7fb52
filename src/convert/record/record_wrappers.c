/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/record/record_wrappers.h"

#include "core/memory.h"
#include "core/mpi_function.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

enum { NAME_MOST = 128 };

static bool begins_word(const char *name, const char *at)
{
    if (at == name || !isalnum((unsigned char)at[-1]))
        return true;
    /* waitAll, and MPISend, whose last capital begins a word. */
    return isupper((unsigned char)*at) && (!isupper((unsigned char)at[-1]) || islower((unsigned char)at[1]));
}

static size_t word_length(const char *name, const char *at)
{
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) && (length == 0 || !begins_word(name, at + length)))
        length++;
    return length;
}

static bool is_word(const char *at, size_t length, const char *word)
{
    return strlen(word) == length && strncasecmp(at, word, length) == 0;
}

static bool says_nothing(const char *at, size_t length)
{
    static const char *const words[] = {"c", "comm", "communicator", "wrapper", "wrap", "wrapped", "impl", "safe"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (is_word(at, length, words[i]))
            return true;
    return false;
}

/* After the arguments of a template. */
static const char *skip_arguments(const char *at)
{
    int depth = 0;
    for (; *at; at++) {
        depth += (*at == '<') - (*at == '>');
        if (depth == 0)
            return at + 1;
    }
    return at;
}

/* The letters after the last word "mpi", without those of words that say nothing; "": there is no such word. Parameters
   of C++ do not belong to the name. */
static void letters_of(const char *name, char letters[NAME_MOST])
{
    size_t used = 0;
    bool after = false;
    for (const char *at = name; *at && *at != '(';) {
        if (*at == '<') {
            at = skip_arguments(at);
            continue;
        }
        size_t length = word_length(name, at);
        if (is_word(at, length, "mpi")) {
            after = true;
            used = 0;
        } else if (after && !says_nothing(at, length)) {
            for (size_t i = 0; i < length && used < NAME_MOST - 1; i++)
                letters[used++] = (char)tolower((unsigned char)at[i]);
        }
        at += length ? length : 1;
    }
    letters[used] = '\0';
}

bool wrapper_is_of(const char *function, const char *mpi_function)
{
    char letters[NAME_MOST], wanted[NAME_MOST];
    letters_of(function, letters);
    letters_of(mpi_function, wanted);
    return *wanted && strcmp(letters, wanted) == 0;
}

bool wrapper_may_be(const char *function)
{
    char letters[NAME_MOST] = "";
    if (function)
        letters_of(function, letters);
    return *letters;
}

/* The place of a site, as its function's name shows; false: it is one of a wrapper. */
static bool counts(const struct defs *defs, uint32_t site, const char *mpi_function)
{
    const char *function = site ? defs->sites[site - 1].function : NULL;
    return site && !(function && wrapper_is_of(function, mpi_function));
}

/* The innermost place that is not in a wrapper, of those that the compiler made one function of; 0: there is none. */
static uint32_t place_beyond(struct record_run *run, const struct defs *defs, uint32_t place, const char *mpi_function)
{
    const struct record_place at = run->places[place - 1];
    if (counts(defs, at.site, mpi_function))
        return place;
    for (size_t i = 0; i < at.outer_count; i++) {
        uint32_t site = run->outers[at.outer + i];
        if (!counts(defs, site, mpi_function))
            continue;
        ARRAY_PUSH(run->places, run->place_count, run->place_capacity,
                   (struct record_place){.module = at.module, .site = site, .offset = at.offset});
        return (uint32_t)run->place_count;
    }
    return 0;
}

static uint32_t place_that_counts(struct record_run *run, const struct defs *defs, const struct record_file_site *site)
{
    if (site->function >= mpi_function_count())
        return site->place;
    const char *function = mpi_function_at(site->function)->name;
    uint32_t place = place_beyond(run, defs, site->place, function);
    if (!place && site->outer)
        place = place_beyond(run, defs, site->outer, function);
    return place ? place : site->place;
}

static void use(bool *used, uint32_t site)
{
    if (site)
        used[site - 1] = true;
}

/* Drops the sites that no place has any more, such as those of wrappers. */
static void drop_others(struct record_run *run, struct defs *defs, bool *used)
{
    for (size_t i = 0; i < run->place_count; i++) {
        const struct record_place *place = &run->places[i];
        if (place->sampled)
            use(used, place->site);
        for (size_t k = 0; place->sampled && k < place->outer_count; k++)
            use(used, run->outers[place->outer + k]);
    }
    uint32_t *renumbered = memory_new(defs->site_count * sizeof *renumbered);
    defs_keep_sites(defs, used, renumbered);
    for (size_t i = 0; i < run->place_count; i++)
        if (run->places[i].site)
            run->places[i].site = renumbered[run->places[i].site - 1];
    for (size_t i = 0; i < run->outer_count; i++)
        if (run->outers[i])
            run->outers[i] = renumbered[run->outers[i] - 1];
    free(renumbered);
}

void record_wrappers_pass_by(struct record_run *run, struct defs *defs)
{
    bool *used = memory_new(defs->site_count * sizeof *used);
    for (size_t i = 0; i < run->file_count; i++) {
        struct record_file *file = &run->files[i];
        for (size_t k = 0; k < file->site_count; k++) {
            if (!file->sites[k].place)
                continue;
            file->sites[k].place = place_that_counts(run, defs, &file->sites[k]);
            use(used, run->places[file->sites[k].place - 1].site);
        }
    }
    drop_others(run, defs, used);
    free(used);
}
