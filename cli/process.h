/*
 * process.h: other programs that this one starts, and how the terminal and Ctrl-C are asked: the places where operating
 * systems differ that the library does not need. Windows has its part of process.c.
 */
#ifndef CLI_PROCESS_H
#define CLI_PROCESS_H

#include <stdbool.h>
#include <stdio.h>

/* A program that was started; zero: none. */
typedef struct process {
    long long id; /* a process number, or a handle of Windows */
} process;

/*
 * Start argv[0] (NULL-terminated words, UTF-8) without a shell. Its output goes to `output` (NULL: nowhere), its
 * messages to `messages` (NULL: where this program's go). It ends when this program is killed, where the system can do
 * that. False, with errno, on failure.
 */
bool process_start(process *started, char *const *argv, FILE *output, FILE *messages);
/* Wait until one of them ends (those with id 0 are ignored). Returns its index and exit code, or -1 with errno. */
int process_wait_any(process *processes, int count, int *exit_code);

/* ---- terminal ---- */

/* Call `handler` at Ctrl-C and when the program is asked to end. */
void process_catch_interrupts(void (*handler)(void));
/* A message from inside that handler, then the end. */
void process_exit_now(const char *message, int code);
/* Whether messages go to a person's terminal, with the control sequences that a progress bar needs. */
bool process_has_terminal(void);
/* The words of the command line as UTF-8, in memory that is never freed; argv itself where it is UTF-8 already. */
char **process_arguments(int argc, char **argv);

#endif
