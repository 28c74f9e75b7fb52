/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_CONVERT_RECORD_SYMBOL_NAME_H
#define SIGHT_CONVERT_RECORD_SYMBOL_NAME_H

#include <stdbool.h>

/* The name that a programmer gave to a function, from the one its compiler gave to the symbol: C++ (Itanium ABI) and
   Rust by libiberty, procedures of Fortran modules as gfortran names them (__module_MOD_procedure is
   module::procedure). Without types of arguments and results: the line says which of several it is.
   NULL if the symbol is the name itself, or unknown. Free it. */
char *symbol_name(const char *symbol);

/* Whether sight was built with libiberty. */
bool symbol_name_there(void);

#endif
