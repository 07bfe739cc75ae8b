/*
 * fbx_parse.c: the two forms of an FBX file (Autodesk, undocumented; the binary form as Blender's developers described
 * it in 2013) as one tree.
 *
 * Binary: records of end offset, values, children; arrays may be deflated. Text: `Name: values {children}` with ;
 * comments.
 */
#include "io/fbx/fbx_parse.h"

#include <limits.h>
#include <string.h>

#include "io/inflate.h"

enum { DEPTH_LIMIT = 40, VALUE_LIMIT = 1 << 26 };

static const char BINARY_MAGIC[] = "Kaydara FBX Binary  ";

/* ---- messages and memory ---- */

cutis_result fbx_error(const fbx_file *file, cutis_result code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    cutis_result result = file_error(file->error, code, file->name, format, arguments);
    va_end(arguments);
    return result;
}

void *fbx_allocate(fbx_file *file, size_t count, size_t size)
{
    size_t base = (size_t)256 << 20;
    size_t budget = file->input_bytes > (SIZE_MAX - base) / 64 ? SIZE_MAX : base + 64 * file->input_bytes;
    if (size && count > SIZE_MAX / size) return NULL;
    if (count * size > budget - file->charged) return NULL;
    file->charged += count * size;
    return arena_push(&file->memory, count, size);
}

cutis_result fbx_error_memory(const fbx_file *file)
{
    if (file->memory.failed) return error_memory(file->error, file->name);
    return fbx_error(file, CUTIS_ERROR_UNSUPPORTED, "it decompresses to more than its declared size");
}

static fbx_node *node_make(fbx_file *file, const char *name, size_t length)
{
    fbx_node *node = fbx_allocate(file, 1, sizeof *node);
    char *copy = node ? fbx_allocate(file, length + 1, 1) : NULL;
    if (!copy) return NULL;
    if (length) memcpy(copy, name, length);
    node->name = copy;
    return node;
}

/* ---- binary ---- */

typedef struct binary_reader {
    fbx_file *file;
    const uint8_t *bytes;
    size_t size, at;
} binary_reader;

static uint64_t bytes_u64(const uint8_t *p) { return bytes_u32(p) | (uint64_t)bytes_u32(p + 4) << 32; }

static double bytes_double(const uint8_t *p)
{
    uint64_t bits = bytes_u64(p);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* Bytes of a scalar or array element by its letter; 0: unknown. */
static size_t letter_size(char letter)
{
    switch (letter) {
    case 'C':
    case 'B':
    case 'b':
    case 'c':
        return 1;
    case 'Y':
        return 2;
    case 'I':
    case 'F':
    case 'i':
    case 'f':
        return 4;
    case 'D':
    case 'L':
    case 'd':
    case 'l':
        return 8;
    default:
        return 0;
    }
}

static double letter_value(char letter, const uint8_t *p)
{
    switch (letter) {
    case 'Y':
        return (int16_t)bytes_u16(p);
    case 'I':
    case 'i':
        return (int32_t)bytes_u32(p);
    case 'F':
    case 'f':
        return (double)bytes_float(bytes_u32(p));
    case 'D':
    case 'd':
        return bytes_double(p);
    case 'L':
    case 'l':
        return (double)(int64_t)bytes_u64(p);
    default:
        return p[0];
    }
}

static cutis_result binary_damage(const binary_reader *r)
{
    return fbx_error(r->file, CUTIS_ERROR_FORMAT, "it is damaged or cut short at byte %zu of %zu", r->at, r->size);
}

static cutis_result binary_array(binary_reader *r, char letter, fbx_value *value)
{
    /* head: count, encoding, bytes in the file */
    size_t element = letter_size(letter);
    if (r->size - r->at < 12) return binary_damage(r);
    size_t count = bytes_u32(r->bytes + r->at);
    unsigned encoding = bytes_u32(r->bytes + r->at + 4);
    size_t stored = bytes_u32(r->bytes + r->at + 8);
    r->at += 12;

    if (encoding == 0) stored = count * element;
    if (count > VALUE_LIMIT || encoding > 1 || stored > r->size - r->at) return binary_damage(r);

    /* encoding 1 is zlib */
    const uint8_t *raw = r->bytes + r->at;
    if (encoding == 1) {
        /* deflate packs a thousand to one at most */
        if (count * element > 1100 * (stored + 1)) return binary_damage(r);
        uint8_t *plain = fbx_allocate(r->file, count * element + 1, 1);
        if (!plain) return fbx_error_memory(r->file);
        if (!inflate_zlib(raw, stored, plain, count * element)) return binary_damage(r);
        raw = plain;
    }

    /* all types are widened to double */
    double *array = fbx_allocate(r->file, count + 1, sizeof *array);
    if (!array) return fbx_error_memory(r->file);
    for (size_t i = 0; i < count; i++) array[i] = letter_value(letter, raw + i * element);

    r->at += stored;
    *value = (fbx_value){.kind = FBX_ARRAY, .array = array, .length = count};
    return CUTIS_OK;
}

static cutis_result binary_value(binary_reader *r, fbx_value *value)
{
    if (r->at == r->size) return binary_damage(r);
    char letter = (char)r->bytes[r->at++];
    if (letter && strchr("fdlibc", letter)) return binary_array(r, letter, value);

    /* a text, or raw bytes */
    if (letter == 'S' || letter == 'R') {
        if (r->size - r->at < 4) return binary_damage(r);
        size_t length = bytes_u32(r->bytes + r->at);
        r->at += 4;
        if (length > r->size - r->at) return binary_damage(r);

        char *text = fbx_allocate(r->file, length + 1, 1);
        if (!text) return fbx_error_memory(r->file);
        if (length) memcpy(text, r->bytes + r->at, length);

        r->at += length;
        *value = (fbx_value){.kind = FBX_STRING, .text = text, .length = length};
        return CUTIS_OK;
    }

    size_t size = letter_size(letter);
    if (size == 0 || r->size - r->at < size) return binary_damage(r);
    const uint8_t *p = r->bytes + r->at;

    r->at += size;
    *value = (fbx_value){.kind = letter == 'F' || letter == 'D' ? FBX_NUMBER : FBX_INTEGER,
                         .number = letter_value(letter, p)};
    value->integer = letter == 'L' ? (int64_t)bytes_u64(p) : value->kind == FBX_NUMBER ? 0 : (int64_t)value->number;

    /* a letter by itself, such as the kind of a key */
    if (letter == 'C' && p[0] >= 'A') {
        char *text = fbx_allocate(r->file, 2, 1);
        if (!text) return fbx_error_memory(r->file);
        text[0] = (char)p[0];
        *value = (fbx_value){.kind = FBX_STRING, .text = text, .length = 1};
    }
    return CUTIS_OK;
}

/* One record; *node is NULL for the empty one that ends a list. */
static cutis_result binary_node(binary_reader *r, int depth, fbx_node **node)
{
    /* head: end of the record, number of its values, length of its name; 64 bits since version 7500 */
    size_t word = r->file->version >= 7500 ? 8 : 4;
    *node = NULL;

    if (depth > DEPTH_LIMIT || r->size - r->at < 3 * word + 1) return binary_damage(r);
    const uint8_t *head = r->bytes + r->at;
    uint64_t end = word == 8 ? bytes_u64(head) : bytes_u32(head);
    uint64_t value_count = word == 8 ? bytes_u64(head + 8) : bytes_u32(head + 4);
    size_t name_length = head[3 * word];
    r->at += 3 * word + 1;

    /* a record of zeros ends the list */
    if (end == 0) return CUTIS_OK;
    if (end > r->size || end < r->at || name_length > r->size - r->at || value_count > r->size - r->at)
        return binary_damage(r);

    *node = node_make(r->file, (const char *)r->bytes + r->at, name_length);
    if (!*node) return fbx_error_memory(r->file);
    r->at += name_length;

    (*node)->values = fbx_allocate(r->file, (size_t)value_count, sizeof(fbx_value));
    if (!(*node)->values && value_count) return fbx_error_memory(r->file);
    for (uint64_t i = 0; i < value_count; i++) {
        cutis_result result = binary_value(r, &(*node)->values[i]);
        if (result != CUTIS_OK) return result;
        (*node)->value_count++;
    }

    /* records inside, until the end that the head states */
    fbx_node **tail = &(*node)->first_child;
    while (r->at < end) {
        cutis_result result = binary_node(r, depth + 1, tail);
        if (result != CUTIS_OK) return result;
        if (!*tail) break;
        tail = &(*tail)->next;
    }

    if (r->at > end) return binary_damage(r);
    r->at = (size_t)end;
    return CUTIS_OK;
}

static cutis_result parse_binary(fbx_file *file, const uint8_t *bytes, size_t size)
{
    binary_reader r = {file, bytes, size, 27};
    if (size < 40) return fbx_error(file, CUTIS_ERROR_FORMAT, "it is cut short");
    file->version = (int)MIN(bytes_u32(bytes + 23), 100000u);

    /* records until an empty one */
    fbx_node **tail = &file->root->first_child;
    for (;;) {
        if (r.at >= size) return binary_damage(&r); /* a whole file ends in an empty record */
        cutis_result result = binary_node(&r, 0, tail);
        if (result != CUTIS_OK) return result;
        if (!*tail) return CUTIS_OK;
        tail = &(*tail)->next;
    }
}

/* ---- text ---- */

typedef struct text_reader {
    fbx_file *file;
    const char *at, *end;
    int line;
    fbx_value *values; /* of the node being read */
    size_t capacity;
} text_reader;

static void text_space(text_reader *r, bool lines)
{
    for (; r->at < r->end; r->at++) {
        if (*r->at == ';') {
            while (r->at < r->end && *r->at != '\n') r->at++;
            if (r->at == r->end) return;
        }
        if (*r->at == '\n') {
            if (!lines) return;
            r->line++;
        } else if (*r->at != ' ' && *r->at != '\t' && *r->at != '\r') {
            return;
        }
    }
}

static cutis_result text_damage(const text_reader *r, const char *what)
{
    return file_line_error(r->file->error, r->file->name, r->line, "%s", what);
}

static bool word_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '+' || c == '.' || c == '|' || c == '*';
}

static cutis_result text_string(text_reader *r, fbx_value *value)
{
    const char *start = ++r->at;

    /* up to the closing quote */
    while (r->at < r->end && *r->at != '"') {
        if (*r->at == '\n') r->line++;
        r->at++;
    }
    if (r->at == r->end) return text_damage(r, "a string does not end");

    size_t length = (size_t)(r->at++ - start);
    char *text = fbx_allocate(r->file, length + 1, 1);
    if (!text) return fbx_error_memory(r->file);
    if (length) memcpy(text, start, length);

    *value = (fbx_value){.kind = FBX_STRING, .text = text, .length = length};
    return CUTIS_OK;
}

static cutis_result text_value(text_reader *r, fbx_value *value)
{
    if (*r->at == '"') return text_string(r, value);

    /* a number, or the length of an array */
    const char *start = r->at;
    if (*r->at == '*') r->at++; /* the length of an array */
    const char *number_start = r->at;
    double number;

    if (text_number(&r->at, r->end, &number) && (r->at == r->end || !word_letter(*r->at))) {
        *value = (fbx_value){.kind = FBX_NUMBER, .number = number};

        const char *cursor = number_start;
        long long integer;
        if (text_integer(&cursor, r->end, &integer) && cursor == r->at) {
            value->kind = FBX_INTEGER;
            value->integer = integer;
        }
        return CUTIS_OK;
    }

    /* any other word is a text */
    r->at = start;
    while (r->at < r->end && word_letter(*r->at)) r->at++;
    if (r->at == start) return text_damage(r, "a value is neither a number nor a string");

    size_t length = (size_t)(r->at - start);
    char *text = fbx_allocate(r->file, length + 1, 1);
    if (!text) return fbx_error_memory(r->file);
    memcpy(text, start, length);
    *value = (fbx_value){.kind = FBX_STRING, .text = text, .length = length};

    /* what C prints for numbers that are none */
    if (length >= 3 && (strstr(text, "#IN") || strstr(text, "nan") || strstr(text, "#QNAN")))
        *value = (fbx_value){.kind = FBX_NUMBER};
    return CUTIS_OK;
}

static cutis_result text_values(text_reader *r, fbx_node *node)
{
    size_t count = 0;
    text_space(r, false);

    /* a list may start on the next line, behind a comma, too */
    if (r->at < r->end && *r->at == ',') {
        r->at++;
        text_space(r, true);
    } else if (r->at < r->end && *r->at == '\n') {
        const char *ahead = r->at;
        while (ahead < r->end && (*ahead == ' ' || *ahead == '\t' || *ahead == '\r' || *ahead == '\n')) ahead++;
        if (ahead < r->end && ((*ahead >= '0' && *ahead <= '9') || *ahead == '-')) text_space(r, true);
    }

    while (r->at < r->end && *r->at != '\n' && *r->at != '{' && *r->at != '}') {
        /* room for twice as many */
        if (count == r->capacity) {
            size_t capacity = MAX(2 * r->capacity, 64);
            fbx_value *larger = fbx_allocate(r->file, capacity, sizeof *larger);
            if (!larger) return fbx_error_memory(r->file);
            if (count) memcpy(larger, r->values, count * sizeof *larger);
            r->values = larger;
            r->capacity = capacity;
        }

        cutis_result result = text_value(r, &r->values[count]);
        if (result != CUTIS_OK) return result;
        count++;
        text_space(r, false);

        /* a comma at the end of a line, or at the start of the next, goes on */
        const char *ahead = r->at;
        while (ahead < r->end && (*ahead == ' ' || *ahead == '\t' || *ahead == '\r' || *ahead == '\n')) ahead++;
        if (ahead == r->end || *ahead != ',') break;
        text_space(r, true);
        r->at++;
        text_space(r, true);
    }
    if (count > INT_MAX) return fbx_error_memory(r->file);

    node->value_count = (int)count;
    node->values = fbx_allocate(r->file, count, sizeof(fbx_value));
    if (!node->values && count) return fbx_error_memory(r->file);
    if (count) memcpy(node->values, r->values, count * sizeof(fbx_value));
    return CUTIS_OK;
}

static cutis_result text_nodes(text_reader *r, int depth, fbx_node **tail)
{
    /* depth is bounded: a damaged file must not overflow the stack */
    if (depth > DEPTH_LIMIT) return text_damage(r, "braces are nested too deeply");
    for (;;) {
        /* the end of this list */
        text_space(r, true);
        if (r->at == r->end) return depth ? text_damage(r, "a brace is not closed: it is cut short") : CUTIS_OK;
        if (*r->at == '}') {
            if (depth == 0) return text_damage(r, "there is one closing brace too many");
            r->at++;
            return CUTIS_OK;
        }

        /* a name and its colon */
        const char *start = r->at;
        while (r->at < r->end && word_letter(*r->at)) r->at++;
        size_t length = (size_t)(r->at - start);
        text_space(r, false);
        if (length == 0 || r->at == r->end || *r->at != ':') return text_damage(r, "a name and ':' are missing");
        r->at++;

        /* values, then the nodes inside braces */
        *tail = node_make(r->file, start, length);
        if (!*tail) return fbx_error_memory(r->file);
        cutis_result result = text_values(r, *tail);
        if (result != CUTIS_OK) return result;

        if (r->at < r->end && *r->at == '{') {
            r->at++;
            result = text_nodes(r, depth + 1, &(*tail)->first_child);
            if (result != CUTIS_OK) return result;
        }
        tail = &(*tail)->next;
    }
}

/* ---- the whole ---- */

bool fbx_recognize(const void *data, size_t size)
{
    return (size >= 20 && memcmp(data, BINARY_MAGIC, 20) == 0) || (size >= 5 && memcmp(data, "; FBX", 5) == 0);
}

cutis_result fbx_parse(fbx_file *file, const void *data, size_t size, const char *path,
                       const cutis_allocator *allocator, cutis_error *error)
{
    *file = (fbx_file){.name = path_base(path), .error = error, .input_bytes = size};
    file->memory = arena_create(allocator);
    file->root = node_make(file, "", 0);
    if (!file->root) return fbx_error_memory(file);

    /* binary or text */
    bool binary = size >= 20 && memcmp(data, BINARY_MAGIC, 20) == 0;
    if (binary) {
        cutis_result result = parse_binary(file, data, size);
        if (result != CUTIS_OK) return result;
    } else {
        text_reader r = {.file = file, .at = data, .end = (const char *)data + size, .line = 1};
        cutis_result result = text_nodes(&r, 0, &file->root->first_child);
        if (result != CUTIS_OK) return result;
    }

    /* the binary form of old files tells its own version at the start, not the file's */
    const fbx_node *head = fbx_child(file->root, "FBXHeaderExtension");
    if (!head) return fbx_error(file, CUTIS_ERROR_FORMAT, "it is not an FBX file: it has no FBXHeaderExtension");

    int told = (int)CLAMP(fbx_number(fbx_child(head, "FBXVersion"), 0, 0), 0, 100000);
    if (told && (file->version < 6000 || !binary)) file->version = told;

    if (file->version >= 6000) return CUTIS_OK;
    if (file->version >= 5000) return fbx_lift_old(file);
    return fbx_error(
        file, CUTIS_ERROR_UNSUPPORTED,
        "FBX %d.%d from before 2004 is not supported; open it in the program that made it and save it again",
        file->version / 1000, file->version / 100 % 10);
}

void fbx_destroy(fbx_file *file) { arena_destroy(&file->memory); }

const fbx_node *fbx_child(const fbx_node *node, const char *name)
{
    for (const fbx_node *child = node ? node->first_child : NULL; child; child = child->next)
        if (strcmp(child->name, name) == 0) return child;
    return NULL;
}

double fbx_number(const fbx_node *node, int index, double missing)
{
    if (!node || index >= node->value_count) return missing;
    const fbx_value *value = &node->values[index];
    return value->kind == FBX_INTEGER || value->kind == FBX_NUMBER ? value->number : missing;
}

const char *fbx_text(const fbx_node *node, int index, const char *missing)
{
    if (!node || index >= node->value_count || node->values[index].kind != FBX_STRING) return missing;
    return node->values[index].text;
}

const double *fbx_numbers(fbx_file *file, const fbx_node *node, int *count)
{
    const fbx_node *inner = fbx_child(node, "a");

    if (inner) node = inner;
    *count = 0;
    if (!node || node->value_count == 0) return NULL;

    /* an array of the binary form, or a list of numbers */
    if (node->values[0].kind == FBX_ARRAY) {
        *count = (int)MIN(node->values[0].length, (size_t)VALUE_LIMIT);
        return node->values[0].array;
    }

    double *numbers = fbx_allocate(file, (size_t)node->value_count, sizeof *numbers);
    if (!numbers) return NULL;
    for (int i = 0; i < node->value_count; i++) numbers[i] = fbx_number(node, i, 0);

    *count = node->value_count;
    return numbers;
}
