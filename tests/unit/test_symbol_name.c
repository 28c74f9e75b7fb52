/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of functions from symbols. Those of C++ are as c++filt -p prints them. */
#include "convert/record/symbol_name.h"

#include "unit/tap.h"

#include <stdlib.h>

static void expect(const char *symbol, const char *expected)
{
    char *name = symbol_name(symbol);
    tap_equal_string(name ? name : "(as it is)", expected ? expected : "(as it is)", "%s", symbol);
    free(name);
}

int main(void)
{
    expect("main", NULL);
    expect("", NULL);
    expect("_", NULL);
    expect("_Z", NULL);
    expect("_Zebra", NULL);
    expect("_Reset", NULL);
    expect("__memset_avx2", NULL);
    expect("__MOD_", NULL);
    expect("__grid_MOD_", NULL);
    expect("dgemm_", NULL);
    expect("__grid_MOD_relax", "grid::relax");
    if (!symbol_name_there()) {
        expect("_Z4swapRdS_", NULL);
        return tap_done();
    }
    expect("_Z4swapRdS_", "swap");
    expect("_ZN9LAMMPS_NS9PairLJCut7computeEii", "LAMMPS_NS::PairLJCut::compute");
    expect("_ZN3app8HeapSortIdE9sift_downEPVd", "app::HeapSort<double>::sift_down");
    expect("_Z4sortIiEvPT_S1_", "sort<int>");
    expect("_ZN4MeshC2ERKS_", "Mesh::Mesh");
    expect("_ZN12_GLOBAL__N_14stepEv", "(anonymous namespace)::step");
    expect("_RNvC4mesh5solve", "mesh::solve");
    return tap_done();
}
