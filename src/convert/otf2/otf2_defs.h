/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_OTF2_OTF2_DEFS_H
#define SIGHT_CONVERT_OTF2_OTF2_DEFS_H

#include "convert/otf2/otf2_archive.h"
#include "convert/reader.h"

/* The global definitions of an archive: collected as they come (they may name what comes later, and real writers define
   twice), then made ours. */

/* Rows of one kind, found by the number that the archive gives them. The first definition of a number is kept. */
struct otf2_ids {
    struct map places; /* id -> index */
};
#define OTF2_NONE UINT32_MAX
uint32_t otf2_index(const struct otf2_ids *ids, uint64_t id); /* OTF2_NONE where it is not defined */

struct otf2_region {
    OTF2_StringRef name, canonical, file;
    OTF2_RegionRole role;
    OTF2_Paradigm paradigm;
    uint32_t line, end_line;
};
struct otf2_process {
    OTF2_StringRef name;
    OTF2_LocationGroupType type;
    OTF2_SystemTreeNodeRef host;
    OTF2_LocationGroupRef creator;
    uint32_t rank; /* world rank; OTF2_NONE until it is known */
};
struct otf2_location_def {
    OTF2_LocationRef id;
    OTF2_StringRef name;
    OTF2_LocationType type;
    uint64_t events; /* as declared */
    OTF2_LocationGroupRef group;
    uint32_t process, thread; /* ours */
};
struct otf2_group {
    OTF2_GroupType type;
    OTF2_Paradigm paradigm;
    uint64_t *members;
    uint32_t count;
};
/* A communicator, or one side of an inter-communicator: world ranks of its members. */
struct otf2_comm {
    OTF2_StringRef name;
    OTF2_GroupRef group, other_group; /* other_group: of an inter-communicator */
    bool inter, self, mpi;
    uint32_t *world, *other_world; /* by rank */
    uint32_t count, other_count;
    int32_t comm, other_comm; /* indices of ours */
};
struct otf2_window {
    OTF2_StringRef name;
    OTF2_CommRef comm;
    int32_t window; /* index of ours */
};
struct otf2_member {
    OTF2_StringRef name, unit;
    OTF2_MetricMode mode;
    OTF2_Type type;
    OTF2_Base base;
    int64_t exponent;
};
struct otf2_metric {
    bool instance;
    OTF2_MetricRef of; /* of an instance: its class */
    OTF2_LocationRef recorder;
    OTF2_MetricScope scope;
    bool has_instances; /* of a class */
    OTF2_MetricMemberRef *members;
    uint8_t count;
    uint32_t mark; /* of its first member; one after the other; OTF2_NONE until it is used */
};
struct otf2_context {
    OTF2_RegionRef region;
    OTF2_SourceCodeLocationRef place;
    OTF2_CallingContextRef parent;
    uint32_t path; /* index into defs->paths */
    uint32_t site; /* 1 + index into defs->sites */
};
struct otf2_handle {
    OTF2_StringRef name;
    OTF2_IoFileRef file;
    OTF2_IoParadigmRef paradigm;
    OTF2_CommRef comm;
};
struct otf2_parameter {
    OTF2_StringRef name;
    OTF2_ParameterType type;
    uint32_t mark;
};

#define OTF2_KINDS(X)                                                                                                  \
    X(string, char *)                                                                                                  \
    X(region, struct otf2_region)                                                                                      \
    X(process, struct otf2_process)                                                                                    \
    X(location, struct otf2_location_def)                                                                              \
    X(group, struct otf2_group)                                                                                        \
    X(comm, struct otf2_comm)                                                                                          \
    X(window, struct otf2_window)                                                                                      \
    X(member, struct otf2_member)                                                                                      \
    X(metric, struct otf2_metric)                                                                                      \
    X(context, struct otf2_context)                                                                                    \
    X(handle, struct otf2_handle)                                                                                      \
    X(parameter, struct otf2_parameter)                                                                                \
    X(                                                                                                                 \
        host, struct {                                                                                                 \
            OTF2_StringRef name;                                                                                       \
            OTF2_StringRef class;                                                                                      \
            OTF2_SystemTreeNodeRef parent;                                                                             \
        })                                                                                                             \
    X(                                                                                                                 \
        place, struct {                                                                                                \
            OTF2_StringRef file;                                                                                       \
            uint32_t line;                                                                                             \
        })                                                                                                             \
    X(file, OTF2_StringRef)                                                                                            \
    X(api, OTF2_StringRef)                                                                                             \
    X(                                                                                                                 \
        fact, struct {                                                                                                 \
            OTF2_LocationGroupRef group;                                                                               \
            OTF2_StringRef name;                                                                                       \
            OTF2_StringRef value;                                                                                      \
        })

struct otf2_defs {
    struct defs *defs;
#define OTF2_TABLE(name, type)                                                                                         \
    type *name;                                                                                                        \
    size_t name##_count, name##_capacity;                                                                              \
    struct otf2_ids name##_ids;
    OTF2_KINDS(OTF2_TABLE)
#undef OTF2_TABLE
    uint64_t resolution, offset; /* ticks a second; ticks of the begin */
    uint64_t realtime;           /* of the begin, in ns since 1970; OTF2_UNDEFINED_TIMESTAMP, 0: not known */
    uint32_t *states;            /* by region: index of ours */
    uint32_t *near_states;       /* the same by a region's number, of small numbers; OTF2_NONE */
    uint32_t near_count;
    uint32_t *handles; /* by handle */
    int32_t selfs;     /* the first of the processes' own communicators; EVENT_UNKNOWN: none */
    uint32_t *sites;   /* by place in the source: as event.site */
    uint32_t request_mark, begin_mark, end_mark;
    uint32_t flush_state, off_state; /* of the recorder */
    uint64_t repeated;               /* definitions of a number that was defined */
};

/* Reads the global definitions and makes ours of them, into `defs`. */
enum status otf2_defs_read(struct otf2_defs *otf2, struct otf2_archive *archive, struct reader *reader,
                           struct error *err) MUST_CHECK;
void otf2_defs_clear(struct otf2_defs *otf2);

const char *otf2_string(const struct otf2_defs *otf2, OTF2_StringRef string); /* NULL: none */

/* A place in the source as event.site: 0 if it is not defined. */
uint32_t otf2_site(const struct otf2_defs *otf2, OTF2_SourceCodeLocationRef place);

/* Makes ours: otf2_regions.c and otf2_groups.c. */
void otf2_make_states(struct otf2_defs *otf2);
void otf2_make_processes(struct otf2_defs *otf2);
void otf2_make_comms(struct otf2_defs *otf2);

/* The communicators and windows that the process is a member of, as events before its first one: from *next on, as far
   as there is room in the batch. True: these are all. */
bool otf2_give_comms(const struct otf2_defs *otf2, uint32_t process, size_t *next, struct batch *batch,
                     int64_t time_ns);

#endif
