/* system_windows.c: system.h for Windows: the wide functions, with paths that come and go as UTF-8. */
#ifdef _WIN32

#include <windows.h>
/* after windows.h */
#include <psapi.h>

#include <dirent.h>

#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <malloc.h>
#include <share.h>
#include <string.h>
#include <sys/stat.h>
#include <wchar.h>

#include "base/system.h"

enum { WIDE_COUNT = 2048 };

typedef struct wide_path {
    wchar_t text[WIDE_COUNT];
} wide_path;

/* UTF-8 to wide; false, with errno, when it is too long or not UTF-8. */
static bool widen(const char *path, wide_path *wide)
{
    if (MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, path, -1, wide->text, WIDE_COUNT) > 0) return true;
    errno = GetLastError() == ERROR_INSUFFICIENT_BUFFER ? ENAMETOOLONG : EILSEQ;
    return false;
}

static bool narrow(const wchar_t *wide, char *text, size_t size)
{
    return WideCharToMultiByte(CP_UTF8, 0, wide, -1, text, (int)size, NULL, NULL) > 0;
}

/* errno for what the last call of Windows said. */
static void take_error(void)
{
    switch (GetLastError()) {
    case ERROR_FILE_NOT_FOUND:
    case ERROR_PATH_NOT_FOUND:
        errno = ENOENT;
        break;
    case ERROR_ALREADY_EXISTS:
    case ERROR_FILE_EXISTS:
        errno = EEXIST;
        break;
    case ERROR_DISK_FULL:
        errno = ENOSPC;
        break;
    case ERROR_DIR_NOT_EMPTY:
        errno = ENOTEMPTY;
        break;
    case ERROR_NOT_ENOUGH_MEMORY:
        errno = ENOMEM;
        break;
    case ERROR_ACCESS_DENIED:
    case ERROR_SHARING_VIOLATION:
        errno = EACCES;
        break;
    default:
        errno = EIO;
        break;
    }
}

static bool done(BOOL fine)
{
    if (!fine) take_error();
    return fine != 0;
}

FILE *system_open(const char *path, const char *mode)
{
    wide_path wide;
    wchar_t wide_mode[8] = {0};
    for (int i = 0; i < 7 && mode[i]; i++) wide_mode[i] = (wchar_t)mode[i];
    return widen(path, &wide) ? _wfopen(wide.text, wide_mode) : NULL;
}

FILE *system_create(const char *path)
{
    wide_path wide;
    if (!widen(path, &wide)) return NULL;

    int descriptor = _wopen(wide.text, _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY, _S_IREAD | _S_IWRITE);
    return descriptor < 0 ? NULL : _fdopen(descriptor, "wb");
}

FILE *system_temporary(void)
{
    /* tmpfile of Windows writes to the root of the disk, where few may write; D: removed when closed */
    wide_path folder, file;
    DWORD length = GetTempPathW(WIDE_COUNT, folder.text);
    if (length == 0 || length > MAX_PATH || !GetTempFileNameW(folder.text, L"cut", 0, file.text)) return NULL;
    return _wfopen(file.text, L"w+bD");
}

bool system_look(const char *path, system_file *about)
{
    wide_path wide;
    if (!widen(path, &wide)) return false;

    /* a handle that reads nothing; the flag lets folders be opened */
    HANDLE handle = CreateFileW(wide.text, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL,
                                OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (handle == INVALID_HANDLE_VALUE) return done(FALSE);

    BY_HANDLE_FILE_INFORMATION info;
    bool fine = done(GetFileInformationByHandle(handle, &info));
    bool disk = GetFileType(handle) == FILE_TYPE_DISK;
    CloseHandle(handle);
    if (!fine) return false;

    /* in the terms of all systems */
    bool folder = (info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) != 0;
    *about = (system_file){disk && !folder, folder, (uint64_t)info.nFileSizeHigh << 32 | info.nFileSizeLow,
                           info.dwVolumeSerialNumber, (uint64_t)info.nFileIndexHigh << 32 | info.nFileIndexLow};
    return true;
}

bool system_size(FILE *file, uint64_t *size)
{
    struct _stat64 info;
    if (_fstat64(_fileno(file), &info) != 0 || (info.st_mode & _S_IFMT) != _S_IFREG) return false;
    *size = (uint64_t)info.st_size;
    return true;
}

bool system_sync(FILE *file) { return _commit(_fileno(file)) == 0; }

bool system_rename(const char *from, const char *to)
{
    wide_path a, b;
    return widen(from, &a) && widen(to, &b) && done(MoveFileExW(a.text, b.text, MOVEFILE_REPLACE_EXISTING));
}

bool system_remove(const char *path)
{
    wide_path wide;
    return widen(path, &wide) && done(DeleteFileW(wide.text));
}

bool system_folder_create(const char *path)
{
    wide_path wide;
    return widen(path, &wide) && done(CreateDirectoryW(wide.text, NULL));
}

bool system_folder_remove(const char *path)
{
    wide_path wide;
    return widen(path, &wide) && done(RemoveDirectoryW(wide.text));
}

bool system_folder_writable(const char *path)
{
    wide_path wide;
    return widen(path, &wide) && _waccess(wide.text, 2) == 0;
}

bool system_listing_open(system_listing *listing, const char *folder)
{
    wide_path wide;
    if (!widen(folder, &wide)) return false;
    listing->handle = _wopendir(wide.text);
    return listing->handle != NULL;
}

const char *system_listing_next(system_listing *listing)
{
    for (struct _wdirent *entry; (entry = _wreaddir(listing->handle));) {
        if (wcscmp(entry->d_name, L".") == 0 || wcscmp(entry->d_name, L"..") == 0) continue;
        if (narrow(entry->d_name, listing->name, sizeof listing->name)) return listing->name;
    }
    return NULL;
}

void system_listing_close(system_listing *listing) { _wclosedir(listing->handle); }

const char *system_error_text(int number, char text[128])
{
    if (strerror_s(text, 128, number) != 0) snprintf(text, 128, "error %d", number);
    return text;
}

void *system_allocate(size_t size, size_t alignment) { return _aligned_malloc(size, alignment); }
void system_release(void *block) { _aligned_free(block); }

double system_peak_memory(void)
{
    PROCESS_MEMORY_COUNTERS counters;
    return GetProcessMemoryInfo(GetCurrentProcess(), &counters, sizeof counters) ? (double)counters.PeakWorkingSetSize
                                                                                 : 0;
}

int system_processor_count(void)
{
    SYSTEM_INFO info;
    GetSystemInfo(&info);
    return info.dwNumberOfProcessors < 1 ? 1 : (int)info.dwNumberOfProcessors;
}

long system_process(void) { return (long)GetCurrentProcessId(); }

bool system_process_lives(long process)
{
    HANDLE handle = OpenProcess(SYNCHRONIZE, FALSE, (DWORD)process);
    if (!handle) return GetLastError() == ERROR_ACCESS_DENIED;

    /* a process that has ended signals its handle */
    bool lives = WaitForSingleObject(handle, 0) == WAIT_TIMEOUT;
    CloseHandle(handle);
    return lives;
}

bool system_program(char *path, size_t size)
{
    wide_path wide;
    DWORD length = GetModuleFileNameW(NULL, wide.text, WIDE_COUNT);
    return length > 0 && length < WIDE_COUNT && narrow(wide.text, path, size);
}

#else
typedef int system_windows_unused; /* a file of C holds something */
#endif
