/* system_posix.c: system.h for Linux, macOS and WebAssembly. */
#ifndef _WIN32

#if defined(__APPLE__)
#define _DARWIN_C_SOURCE /* _SC_NPROCESSORS_ONLN, _NSGetExecutablePath */
#include <mach-o/dyld.h>
#endif
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system.h"

FILE *system_open(const char *path, const char *mode) { return fopen(path, mode); }

FILE *system_create(const char *path)
{
    int descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL, 0666);
    if (descriptor < 0) return NULL;

    FILE *file = fdopen(descriptor, "wb");
    if (file) return file;

    /* the first failure is the one to report */
    int failure = errno;
    close(descriptor);
    unlink(path);
    errno = failure;
    return NULL;
}

FILE *system_temporary(void) { return tmpfile(); }

bool system_look(const char *path, system_file *about)
{
    struct stat info;
    if (stat(path, &info) != 0) return false;
    *about = (system_file){S_ISREG(info.st_mode), S_ISDIR(info.st_mode), (uint64_t)info.st_size, (uint64_t)info.st_dev,
                           (uint64_t)info.st_ino};
    return true;
}

bool system_size(FILE *file, uint64_t *size)
{
    struct stat info;
    if (fstat(fileno(file), &info) != 0 || !S_ISREG(info.st_mode)) return false;
    *size = (uint64_t)info.st_size;
    return true;
}

bool system_sync(FILE *file) { return fsync(fileno(file)) == 0; }
bool system_rename(const char *from, const char *to) { return rename(from, to) == 0; }
bool system_remove(const char *path) { return unlink(path) == 0; }
bool system_folder_create(const char *path) { return mkdir(path, 0777) == 0; }
bool system_folder_remove(const char *path) { return rmdir(path) == 0; }
bool system_folder_writable(const char *path) { return access(path, W_OK | X_OK) == 0; }

bool system_listing_open(system_listing *listing, const char *folder)
{
    listing->handle = opendir(folder);
    return listing->handle != NULL;
}

const char *system_listing_next(system_listing *listing)
{
    for (struct dirent *entry; (entry = readdir(listing->handle));) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        snprintf(listing->name, sizeof listing->name, "%s", entry->d_name);
        return listing->name;
    }
    return NULL;
}

void system_listing_close(system_listing *listing) { closedir(listing->handle); }

const char *system_error_text(int number, char text[128])
{
    if (strerror_r(number, text, 128) != 0) snprintf(text, 128, "error %d", number);
    return text;
}

void *system_allocate(size_t size, size_t alignment)
{
    void *block = NULL;
    return posix_memalign(&block, alignment, size) == 0 ? block : NULL;
}

void system_release(void *block) { free(block); }

double system_peak_memory(void)
{
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
#if defined(__APPLE__)
    return (double)usage.ru_maxrss; /* in bytes there */
#else
    return 1024.0 * (double)usage.ru_maxrss;
#endif
}

int system_processor_count(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : (int)count;
}

long system_process(void) { return (long)getpid(); }
bool system_process_lives(long process) { return kill((pid_t)process, 0) == 0 || errno != ESRCH; }

bool system_program(char *path, size_t size)
{
#if defined(__APPLE__)
    uint32_t length = (uint32_t)size;
    return _NSGetExecutablePath(path, &length) == 0;
#else
    ssize_t length = readlink("/proc/self/exe", path, size - 1);

    if (length <= 0) return false;
    path[length] = 0;
    return true;
#endif
}

#else
typedef int system_posix_unused; /* a file of C holds something */
#endif
