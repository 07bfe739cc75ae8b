/* process.c: child processes, Ctrl-C and the terminal, for POSIX systems and for Windows. */
#include "process.h"

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void (*interrupt_handler)(void);

#ifndef _WIN32

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

bool process_start(process *started, char *const *argv, FILE *output, FILE *messages)
{
    fflush(NULL);

    pid_t parent = getpid();
    pid_t child = fork();
    if (child < 0) return false;

    if (child == 0) {
#ifdef __linux__
        /* a parent that is killed takes its children along */
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(130);
#else
        (void)parent;
#endif

        /* where it writes to */
        int out = output ? fileno(output) : open("/dev/null", O_WRONLY);
        if (out >= 0) dup2(out, 1);
        if (messages) dup2(fileno(messages), 2);

        execvp(argv[0], argv);
        _exit(127);
    }

    started->id = child;
    return true;
}

int process_wait_any(process *processes, int count, int *exit_code)
{
    for (;;) {
        int state;
        pid_t ended = waitpid(-1, &state, 0);
        if (ended < 0 && errno != EINTR) return -1;

        for (int i = 0; ended > 0 && i < count; i++) {
            if (processes[i].id != ended) continue;
            processes[i].id = 0;
            *exit_code = WIFEXITED(state) ? WEXITSTATUS(state) : 128 + WTERMSIG(state);
            return i;
        }
    }
}

static void on_signal(int number)
{
    interrupt_handler();
    signal(number, SIG_DFL);
}

void process_catch_interrupts(void (*handler)(void))
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    interrupt_handler = handler;
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < 3; i++) {
        /* what the parent told us to ignore (nohup), stays ignored */
        struct sigaction before;
        if (sigaction(signals[i], NULL, &before) == 0 && before.sa_handler == SIG_IGN && signals[i] == SIGHUP) continue;
        sigaction(signals[i], &action, NULL);
    }
}

void process_exit_now(const char *message, int code)
{
    if (write(STDERR_FILENO, message, strlen(message)) < 0) _exit(1);
    _exit(code);
}

bool process_has_terminal(void) { return isatty(STDERR_FILENO) != 0; }

char **process_arguments(int argc, char **argv)
{
    (void)argc;
    return argv;
}

#else

#include <windows.h>
/* after windows.h */
#include <fcntl.h>
#include <io.h>
#include <shellapi.h>

/* A word as the C library's start code reads it back: in quotes, with backslashes before quotes doubled. */
static size_t quote(const char *word, char *to)
{
    size_t length = 0;
    size_t backslashes = 0;

    to[length++] = '"';
    for (const char *c = word; *c; c++) {
        /* a quote is escaped, and so are the backslashes before it */
        backslashes = *c == '\\' ? backslashes + 1 : backslashes;
        if (*c == '"') {
            for (size_t i = 0; i <= backslashes; i++) to[length++] = '\\';
        }
        if (*c != '\\') backslashes = 0;
        to[length++] = *c;
    }

    for (size_t i = 0; i < backslashes; i++) to[length++] = '\\';
    to[length++] = '"';
    to[length++] = ' ';

    return length;
}

/* All words as one command line; the caller frees. */
static wchar_t *command_line(char *const *argv)
{
    /* room for the worst case */
    size_t room = 1;
    for (int i = 0; argv[i]; i++) room += 2 * strlen(argv[i]) + 3;
    char *text = malloc(room);
    wchar_t *wide = malloc(room * sizeof *wide);
    size_t length = 0;

    for (int i = 0; text && argv[i]; i++) length += quote(argv[i], text + length);
    bool fine = text && wide && length > 0;
    if (fine) text[length - 1] = 0;
    fine = fine && MultiByteToWideChar(CP_UTF8, 0, text, -1, wide, (int)room) > 0;

    free(text);
    if (fine) return wide;
    free(wide);
    return NULL;
}

/* A job object whose processes end with this one. */
static HANDLE family(void)
{
    static HANDLE job;
    if (job) return job;
    job = CreateJobObjectW(NULL, NULL);
    JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits = {.BasicLimitInformation.LimitFlags =
                                                       JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE};
    if (job) SetInformationJobObject(job, JobObjectExtendedLimitInformation, &limits, sizeof limits);
    return job;
}

bool process_start(process *started, char *const *argv, FILE *output, FILE *messages)
{
    wchar_t *line = command_line(argv);
    if (!line) {
        errno = ENOMEM;
        return false;
    }

    /* the handles it inherits */
    fflush(NULL);
    SECURITY_ATTRIBUTES inherit = {sizeof inherit, NULL, TRUE};
    HANDLE null = CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE, FILE_SHARE_READ | FILE_SHARE_WRITE, &inherit,
                              OPEN_EXISTING, 0, NULL);
    HANDLE out = output ? (HANDLE)_get_osfhandle(_fileno(output)) : null;
    HANDLE said = messages ? (HANDLE)_get_osfhandle(_fileno(messages)) : null;

    SetHandleInformation(out, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    SetHandleInformation(said, HANDLE_FLAG_INHERIT, HANDLE_FLAG_INHERIT);
    STARTUPINFOW about = {
        .cb = sizeof about, .dwFlags = STARTF_USESTDHANDLES, .hStdInput = null, .hStdOutput = out, .hStdError = said};

    /* suspended, until it belongs to the family that ends with this process; a busy system may refuse at first */
    PROCESS_INFORMATION info;
    bool fine = false;
    for (int attempt = 0; attempt < 4 && !fine; attempt++) {
        if (attempt > 0) Sleep(50);
        fine = CreateProcessW(NULL, line, NULL, NULL, TRUE, CREATE_SUSPENDED, NULL, NULL, &about, &info);
    }
    free(line);
    CloseHandle(null);
    if (!fine) {
        errno = ENOENT;
        return false;
    }

    AssignProcessToJobObject(family(), info.hProcess);
    ResumeThread(info.hThread);
    CloseHandle(info.hThread);
    started->id = (intptr_t)info.hProcess;
    return true;
}

int process_wait_any(process *processes, int count, int *exit_code)
{
    HANDLE handles[MAXIMUM_WAIT_OBJECTS] = {0};
    int indices[MAXIMUM_WAIT_OBJECTS] = {0};
    DWORD running = 0;

    for (int i = 0; i < count && running < MAXIMUM_WAIT_OBJECTS; i++) {
        if (!processes[i].id) continue;
        handles[running] = (HANDLE)(intptr_t)processes[i].id;
        indices[running++] = i;
    }

    /* the first that ends */
    DWORD which = WaitForMultipleObjects(running, handles, FALSE, INFINITE) - WAIT_OBJECT_0;
    DWORD code;
    if (which >= running || !GetExitCodeProcess(handles[which], &code)) {
        errno = ECHILD;
        return -1;
    }

    CloseHandle(handles[which]);
    processes[indices[which]].id = 0;
    *exit_code = (int)code;
    return indices[which];
}

static BOOL WINAPI on_control(DWORD kind)
{
    static int count;
    if (kind != CTRL_C_EVENT && kind != CTRL_BREAK_EVENT && kind != CTRL_CLOSE_EVENT) return FALSE;
    if (count++ > 0) return FALSE; /* the second time the system ends the program */
    interrupt_handler();
    return TRUE;
}

void process_catch_interrupts(void (*handler)(void))
{
    interrupt_handler = handler;
    SetConsoleCtrlHandler(on_control, TRUE);

    /* the bytes that are printed are UTF-8, and lines end as on other systems, so that outputs compare */
    SetConsoleOutputCP(CP_UTF8);
    _setmode(_fileno(stdout), _O_BINARY);
    _setmode(_fileno(stderr), _O_BINARY);
}

void process_exit_now(const char *message, int code)
{
    DWORD written;
    WriteFile(GetStdHandle(STD_ERROR_HANDLE), message, (DWORD)strlen(message), &written, NULL);
    ExitProcess((UINT)code);
}

bool process_has_terminal(void)
{
    HANDLE console = GetStdHandle(STD_ERROR_HANDLE);
    DWORD mode;
    return GetConsoleMode(console, &mode) &&
           SetConsoleMode(console, mode | ENABLE_PROCESSED_OUTPUT | ENABLE_VIRTUAL_TERMINAL_PROCESSING);
}

char **process_arguments(int argc, char **argv)
{
    int count = 0;

    wchar_t **wide = CommandLineToArgvW(GetCommandLineW(), &count);
    char **words = wide && count == argc ? calloc((size_t)count + 1, sizeof *words) : NULL;
    if (!words) return argv;

    /* each word as UTF-8 */
    for (int i = 0; i < count; i++) {
        int size = WideCharToMultiByte(CP_UTF8, 0, wide[i], -1, NULL, 0, NULL, NULL);
        words[i] = size > 0 ? malloc((size_t)size) : NULL;
        if (!words[i]) return argv;
        WideCharToMultiByte(CP_UTF8, 0, wide[i], -1, words[i], size, NULL, NULL);

        /* one separator, so that paths read alike everywhere; solvers' names and numbers have none */
        for (char *c = words[i]; *c; c++)
            if (*c == '\\') *c = '/';
    }

    LocalFree(wide);
    return words;
}

#endif
