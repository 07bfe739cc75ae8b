/*
 * files.c: whole files in and out, numbers as text, unique names.
 */
#include "io/files.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- paths ---- */

const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c; }

bool path_ends(const char *path, const char *ending)
{
    size_t length = strlen(path), size = strlen(ending);
    if (length < size) return false;
    for (size_t i = 0; i < size; i++)
        if (lower(path[length - size + i]) != lower(ending[i])) return false;
    return true;
}

bool path_is_gltf(const char *path)
{
    return path_ends(path, ".glb") || path_ends(path, ".gltf") || path_ends(path, ".vrm");
}

char *path_stem(arena *memory, const char *path)
{
    char *stem = arena_string(memory, path_base(path));
    if (!stem) return NULL;
    char *dot = strrchr(stem, '.');
    if (dot && dot != stem) *dot = 0;
    return stem;
}

/* ---- whole files ---- */

/* One line without control characters. */
static void print_line(char *text, size_t size, const char *format, va_list arguments)
{
    vsnprintf(text, size, format, arguments);
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < 32) *c = ' ';
}

cutis_result file_error(cutis_error *error, cutis_result code, const char *name, const char *format, va_list arguments)
{
    char text[480];
    print_line(text, sizeof text, format, arguments);
    return error_set(error, code, "%.150s: %s", name, text);
}

cutis_result file_line_error(cutis_error *error, const char *name, int line, const char *format, ...)
{
    char text[300];
    va_list arguments;
    va_start(arguments, format);
    print_line(text, sizeof text, format, arguments);
    va_end(arguments);
    return error_set(error, CUTIS_ERROR_FORMAT, "%.150s: line %d: %s", name, line, text);
}

cutis_result file_read(const char *path, size_t limit, const cutis_allocator *allocator, file_data *data,
                       cutis_error *error)
{
    char reason[128];
    *data = (file_data){.allocator = memory_resolve(allocator)};

    /* regular files only: folders and pipes have no size */
    FILE *file = system_open(path, "rb");
    if (!file)
        return error_set(error, CUTIS_ERROR_FILE, "cannot open '%s': %s", path, system_error_text(errno, reason));

    uint64_t bytes;
    if (!system_size(file, &bytes)) {
        fclose(file);
        return error_set(error, CUTIS_ERROR_FILE, "'%s' is not a regular file", path);
    }

    /* the content, or the first bytes of it */
    size_t size = (size_t)(limit && bytes > limit ? limit : bytes);
    data->bytes = memory_allocate(&data->allocator, size + 1, 1);
    if (!data->bytes) {
        fclose(file);
        return error_memory(error, "a file's content");
    }
    data->size = size;

    /* a file that shrinks while it is read is an error */
    size_t got = fread(data->bytes, 1, size, file);
    fclose(file);
    if (got != size) {
        file_release(data);
        return error_set(error, CUTIS_ERROR_FILE, "cannot read '%s': it ended after %zu of %zu bytes", path, got, size);
    }
    return CUTIS_OK;
}

void file_release(file_data *data)
{
    if (data->bytes) memory_release(&data->allocator, data->bytes, data->size + 1, 1);
    data->bytes = NULL;
    data->size = 0;
}

/* One character of UTF-16 from bytes[*at] on; halves that stand alone become U+FFFD. */
static uint32_t utf16_next(const uint8_t *bytes, size_t size, bool big, size_t *at)
{
    uint32_t units[2] = {0, 0};
    for (size_t i = 0; i < 2 && *at + 2 * i + 1 < size; i++) {
        const uint8_t *pair = bytes + *at + 2 * i;
        units[i] = big ? (uint32_t)pair[0] << 8 | pair[1] : (uint32_t)pair[1] << 8 | pair[0];
    }
    *at += 2;
    if (units[0] < 0xd800 || units[0] > 0xdfff) return units[0];
    if (units[0] > 0xdbff || units[1] < 0xdc00 || units[1] > 0xdfff) return 0xfffd;
    *at += 2;
    return 0x10000 + ((units[0] - 0xd800) << 10) + (units[1] - 0xdc00);
}

static size_t utf8_put(uint32_t letter, uint8_t *out)
{
    /* ASCII */
    if (letter < 0x80) {
        out[0] = (uint8_t)letter;
        return 1;
    }
    size_t count = letter < 0x800 ? 2 : letter < 0x10000 ? 3 : 4;

    /* six bits a byte behind the first, whose upper bits tell how many there are */
    static const uint8_t marks[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    for (size_t i = count - 1; i > 0; i--) {
        out[i] = (uint8_t)(0x80 | (letter & 0x3f));
        letter >>= 6;
    }

    out[0] = (uint8_t)(marks[count] | letter);
    return count;
}

cutis_result text_plain(const void *data, size_t size, const char *name, const cutis_allocator *allocator,
                        file_data *plain, cutis_error *error)
{
    const uint8_t *bytes = data;
    *plain = (file_data){.allocator = memory_resolve(allocator)};

    /* UTF-16 by its mark; or lines that end in carriage returns alone */
    bool big = size >= 2 && bytes[0] == 0xfe && bytes[1] == 0xff;
    bool wide = big || (size >= 2 && bytes[0] == 0xff && bytes[1] == 0xfe);
    const uint8_t *end = size ? memchr(data, '\r', size) : NULL;
    bool returns = !wide && end && end + 1 < bytes + size && end[1] != '\n' && !memchr(data, '\n', size);
    if (!wide && !returns) return CUTIS_OK;

    /* count, then write */
    size_t needed = returns ? size : 0;
    uint8_t letter[4];
    for (size_t at = 2; wide && at + 1 < size;) needed += utf8_put(utf16_next(bytes, size, big, &at), letter);

    plain->bytes = memory_allocate(&plain->allocator, needed + 1, 1);
    if (!plain->bytes) return error_memory(error, name);
    plain->size = needed;

    uint8_t *out = plain->bytes;
    for (size_t at = 2; wide && at + 1 < size;) out += utf8_put(utf16_next(bytes, size, big, &at), out);
    for (size_t i = 0; returns && i < size; i++) *out++ = bytes[i] == '\r' ? (uint8_t)'\n' : bytes[i];

    *out = 0;
    return CUTIS_OK;
}

char *file_temporary_name(const char *path, int attempt, const cutis_allocator *allocator)
{
    int length = snprintf(NULL, 0, "%s.tmp-%ld-%d", path, system_process(), attempt);
    char *name = memory_allocate(allocator, (size_t)length + 1, 1);
    if (name) snprintf(name, (size_t)length + 1, "%s.tmp-%ld-%d", path, system_process(), attempt);
    return name;
}

void file_string_release(const cutis_allocator *allocator, char *text)
{
    if (text) memory_release(allocator, text, strlen(text) + 1, 1);
}

static char *string_copy(const cutis_allocator *allocator, const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = memory_allocate(allocator, size, 1);
    if (copy) memcpy(copy, text, size);
    return copy;
}

/* ---- files in memory ---- */

static void stored_release(const cutis_allocator *allocator, file_stored *file)
{
    file_string_release(allocator, file->name);
    memory_release(allocator, file->bytes, file->capacity, 1);
    *file = (file_stored){0};
}

void file_store_release(file_store *store)
{
    for (int i = 0; i < store->count; i++) stored_release(&store->allocator, &store->files[i]);
    memory_release(&store->allocator, store->files, (size_t)store->capacity, sizeof *store->files);
    *store = (file_store){0};
}

/* Room for `size` bytes behind those that are there; NULL when memory runs out. */
static uint8_t *stored_grow(const cutis_allocator *allocator, file_stored *file, size_t size)
{
    if (size > file->capacity - file->size) {
        size_t capacity = MAX(2 * file->capacity, file->size + size + 4096);
        uint8_t *larger = memory_allocate(allocator, capacity, 1);
        if (!larger) return NULL;
        if (file->size) memcpy(larger, file->bytes, file->size);
        memory_release(allocator, file->bytes, file->capacity, 1);
        file->bytes = larger;
        file->capacity = capacity;
    }
    return file->bytes + file->size;
}

/* Hand a finished file to the store, which takes it over. */
static bool store_add(file_store *store, file_stored *file)
{
    if (store->count == store->capacity) {
        int capacity = store->capacity ? 2 * store->capacity : 8;
        file_stored *larger = memory_allocate(&store->allocator, (size_t)capacity, sizeof *larger);
        if (!larger) return false;
        if (store->count) memcpy(larger, store->files, (size_t)store->count * sizeof *larger);
        memory_release(&store->allocator, store->files, (size_t)store->capacity, sizeof *larger);

        store->files = larger;
        store->capacity = capacity;
    }

    store->files[store->count++] = *file;
    *file = (file_stored){0};
    return true;
}

/* ---- files that appear whole ---- */

cutis_result file_writer_open(file_writer *writer, file_store *store, const char *path,
                              const cutis_allocator *allocator, cutis_error *error)
{
    /* a store keeps the content in memory */
    char reason[128];
    *writer = (file_writer){.allocator = memory_resolve(store ? &store->allocator : allocator), .store = store};
    writer->path = string_copy(&writer->allocator, path);
    if (!writer->path) return error_memory(error, "a path");
    if (store) return CUTIS_OK;

    /* a temporary file beside the target: an interrupted run leaves the older one whole */
    int failure = 0;
    for (int attempt = 0; attempt < 100 && !writer->file; attempt++) {
        file_string_release(&writer->allocator, writer->temporary);
        writer->temporary = file_temporary_name(path, attempt, &writer->allocator);
        if (!writer->temporary) {
            file_writer_discard(writer);
            return error_memory(error, "a path");
        }

        writer->file = system_create(writer->temporary);
        failure = errno;
        if (!writer->file && failure != EEXIST) break;
    }

    /* no name was free, or the folder cannot be written */
    if (!writer->file) {
        file_writer_discard(writer);
        return error_set(error, CUTIS_ERROR_FILE, "cannot write '%s': %s", path, system_error_text(failure, reason));
    }
    return CUTIS_OK;
}

void file_writer_put(file_writer *writer, const void *data, size_t size)
{
    if (writer->failed || size == 0) return;

    if (writer->store) {
        uint8_t *to = stored_grow(&writer->allocator, &writer->memory, size);
        writer->failed = !to;
        if (to) memcpy(to, data, size);
        writer->memory.size += to ? size : 0;
        return;
    }

    if (fwrite(data, 1, size, writer->file) != size) {
        writer->failed = true;
        writer->failure = errno;
    }
}

void file_writer_print(file_writer *writer, const char *format, ...)
{
    if (writer->failed) return;
    va_list arguments;

    /* into memory: measure first, then print into the room */
    if (writer->store) {
        va_start(arguments, format);
        int length = vsnprintf(NULL, 0, format, arguments);
        va_end(arguments);
        char *to = (char *)stored_grow(&writer->allocator, &writer->memory, (size_t)length + 1);
        writer->failed = !to;
        if (!to) return;

        va_start(arguments, format);
        vsnprintf(to, (size_t)length + 1, format, arguments);
        va_end(arguments);
        writer->memory.size += (size_t)length;
        return;
    }

    /* into the file; the first failure is kept */
    va_start(arguments, format);
    if (vfprintf(writer->file, format, arguments) < 0) {
        writer->failed = true;
        writer->failure = errno;
    }
    va_end(arguments);
}

void file_writer_discard(file_writer *writer)
{
    if (writer->file) {
        fclose(writer->file);
        system_remove(writer->temporary);
    }
    stored_release(&writer->allocator, &writer->memory);
    file_string_release(&writer->allocator, writer->temporary);
    file_string_release(&writer->allocator, writer->path);
    writer->file = NULL;
    writer->path = writer->temporary = NULL;
}

cutis_result file_writer_finish(file_writer *writer, cutis_error *error)
{
    char reason[128];
    if (writer->store) {
        writer->memory.name = writer->path;
        writer->path = NULL;
        bool fine = !writer->failed && store_add(writer->store, &writer->memory);
        file_writer_discard(writer);
        return fine ? CUTIS_OK : error_memory(error, "a file");
    }

    /* To the disk before the rename, so that a power failure cannot leave an empty file under the name. */
    if (!writer->failed && (fflush(writer->file) != 0 || (!writer->quick && !system_sync(writer->file)))) {
        writer->failed = true;
        writer->failure = errno;
    }

    /* close, then rename */
    if (fclose(writer->file) != 0 && !writer->failed) {
        writer->failed = true;
        writer->failure = errno;
    }
    writer->file = NULL;

    if (!writer->failed && !system_rename(writer->temporary, writer->path)) {
        writer->failed = true;
        writer->failure = errno;
    }

    /* a failure leaves the older file */
    cutis_result result = CUTIS_OK;
    if (writer->failed) {
        system_remove(writer->temporary);
        result = error_set(error, CUTIS_ERROR_FILE, "cannot write '%s': %s", writer->path,
                           system_error_text(writer->failure, reason));
    }

    file_writer_discard(writer);
    return result;
}

/* ---- bytes ---- */

float bytes_float(uint32_t bits)
{
    float value;
    memcpy(&value, &bits, 4);
    return value;
}

uint32_t bytes_from_float(float value)
{
    uint32_t bits;
    memcpy(&bits, &value, 4);
    return bits;
}

void bytes_put_u32(uint8_t *p, uint32_t value)
{
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(value >> (8 * i));
}

void bytes_put_u32_big(uint8_t *p, uint32_t value)
{
    for (int i = 0; i < 4; i++) p[i] = (uint8_t)(value >> (24 - 8 * i));
}

/* ---- numbers as text ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool text_integer(const char **cursor, const char *end, long long *value)
{
    const char *p = *cursor;
    bool negative = false;
    if (p < end && (*p == '-' || *p == '+')) negative = *p++ == '-';
    if (p >= end || !is_digit(*p)) return false;
    long long result = 0;
    for (; p < end && is_digit(*p); p++)
        if (result < 100000000000000000LL) result = result * 10 + (*p - '0');
    *value = negative ? -result : result;
    *cursor = p;
    return true;
}

int text_from_float(float value, char text[32])
{
    int length = 0;

    for (int precision = 6; precision <= 9; precision += 3) {
        length = snprintf(text, 32, "%.*g", precision, (double)value);

        /* The locale may have put another sign for the point. */
        for (int i = 0; i < length; i++)
            if (!is_digit(text[i]) && !strchr("+-einfa", text[i])) text[i] = '.';

        const char *cursor = text;
        double back;
        if (text_number(&cursor, text + length, &back) && (float)back == value) break;
    }
    return length;
}

/* ---- names ---- */

enum { NAME_BYTES = 200 };

struct name_entry {
    const char *name;
    int next; /* the next number to try for this name */
};

name_set name_set_create(arena *memory) { return (name_set){.memory = memory}; }

static struct name_entry *name_set_slot(const name_set *set, const char *name)
{
    uint32_t mask = (uint32_t)set->capacity - 1;
    uint32_t i = (uint32_t)hash_bytes(name, strlen(name), 0) & mask;
    while (set->entries[i].name && strcmp(set->entries[i].name, name) != 0) i = (i + 1) & mask;
    return &set->entries[i];
}

static bool name_set_grow(name_set *set)
{
    if (2 * set->count < set->capacity) return true;
    name_set larger = *set;
    larger.capacity = set->capacity ? 2 * set->capacity : 64;
    larger.entries = ARENA_ARRAY(set->memory, struct name_entry, larger.capacity);
    if (!larger.entries) return false;
    for (int i = 0; i < set->capacity; i++)
        if (set->entries[i].name) *name_set_slot(&larger, set->entries[i].name) = set->entries[i];
    *set = larger;
    return true;
}

const char *name_set_add(name_set *set, const char *name, const char *prefix, int index)
{
    char *base = name && *name ? arena_string(set->memory, name) : arena_format(set->memory, "%s_%d", prefix, index);
    if (!base || !name_set_grow(set)) return NULL;

    /* letters that can be printed */
    for (char *c = base; *c; c++)
        if ((unsigned char)*c < 32 || *c == 127) *c = '_';

    /* A name of any length would do, but messages and numbered names need an end. Whole UTF-8 characters stay. */
    if (strlen(base) > NAME_BYTES) {
        int cut = NAME_BYTES;
        while (cut > 0 && ((unsigned char)base[cut] & 0xC0) == 0x80) cut--;
        base[cut] = 0;
    }

    /* a name that is free */
    struct name_entry *entry = name_set_slot(set, base);
    if (!entry->name) {
        *entry = (struct name_entry){base, 2};
        set->count++;
        return base;
    }

    /* Each number is tried once for a name, so that many equal names do not cost their square. */
    for (;;) {
        char *numbered = arena_format(set->memory, "%s_%d", base, entry->next++);
        if (!numbered) return NULL;
        struct name_entry *slot = name_set_slot(set, numbered);
        if (slot->name) continue;

        *slot = (struct name_entry){numbered, 2};
        set->count++;
        return numbered;
    }
}

/* ---- warnings ---- */

void warning_add(warning_list *list, const char *format, ...)
{
    if (list->count >= WARNING_LIMIT) {
        list->suppressed++;
        return;
    }

    char text[500];
    va_list arguments;
    va_start(arguments, format);
    print_line(text, sizeof text, format, arguments);
    va_end(arguments);

    const char *sentence = arena_string(list->memory, text);
    if (sentence) list->sentences[list->count++] = sentence;
}

int warning_finish(warning_list *list)
{
    if (list->suppressed) {
        const char *sentence =
            arena_format(list->memory, "%d more warnings of this file are not shown", list->suppressed);
        if (sentence) list->sentences[list->count++] = sentence;
        list->suppressed = 0;
    }
    return list->count;
}

/* ---- base64 ---- */

static int base64_digit(char c)
{
    if (c >= 'A' && c <= 'Z') return c - 'A';
    if (c >= 'a' && c <= 'z') return c - 'a' + 26;
    if (c >= '0' && c <= '9') return c - '0' + 52;
    return c == '+' || c == '-' ? 62 : c == '/' || c == '_' ? 63 : -1;
}

bool base64_decode(const char *text, uint8_t *bytes, size_t *size)
{
    uint32_t bits = 0;

    int filled = 0;
    *size = 0;

    /* six bits a digit, a byte as soon as there are eight */
    for (; *text && *text != '='; text++) {
        int digit = base64_digit(*text);
        if (digit < 0) return false;
        bits = bits << 6 | (uint32_t)digit;
        filled += 6;

        if (filled >= 8) {
            filled -= 8;
            bytes[(*size)++] = (uint8_t)(bits >> filled);
        }
    }

    for (; *text == '='; text++) {
    }
    return *text == 0;
}
