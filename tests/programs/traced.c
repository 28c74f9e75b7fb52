/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a program as a debugger does, and counts the real-time signals that stop it: traced PROGRAM [ARGUMENTS...]
   prints "stops,N" and ends as the program does. */
#include <signal.h>
#include <stdio.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int status = 0, stops = 0;
    pid_t program = argc > 1 ? fork() : -1;
    if (program < 0)
        return 1;
    if (program == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        execv(argv[1], argv + 1);
        _exit(127);
    }
    while (waitpid(program, &status, 0) == program && WIFSTOPPED(status)) {
        /* SIGTRAP: the program begins. */
        long number = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
        stops += number >= SIGRTMIN;
        ptrace(PTRACE_CONT, program, NULL, (void *)number);
    }
    printf("stops,%d\n", stops);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
