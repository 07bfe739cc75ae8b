/*
 * gltf_document.c: the container, the JSON, the buffers and the accessors of glTF 2.0 (Khronos, ISO/IEC 12113).
 */
#include "io/gltf/gltf_document.h"

#include <float.h>
#include <limits.h>
#include <math.h>
#include <string.h>

#include "io/gltf/gltf_unpack.h"

enum { GLB_MAGIC = 0x46546C67, GLB_JSON = 0x4E4F534A, GLB_BIN = 0x004E4942 };

/* ---- messages and memory ---- */

cutis_result gltf_error(const gltf_document *document, cutis_result code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    cutis_result result = file_error(document->error, code, document->name, format, arguments);
    va_end(arguments);
    return result;
}

static size_t gltf_budget(const gltf_document *document)
{
    size_t base = (size_t)256 << 20;
    return document->input_bytes > (SIZE_MAX - base) / 64 ? SIZE_MAX : base + 64 * document->input_bytes;
}

bool gltf_charge(gltf_document *document, size_t count, size_t size)
{
    if (size && count > SIZE_MAX / size) return false;
    if (count * size > gltf_budget(document) - document->charged) return false;
    document->charged += count * size;
    return true;
}

void *gltf_allocate(gltf_document *document, size_t count, size_t size)
{
    if (!gltf_charge(document, count, size)) return NULL;
    return arena_push(&document->memory, count, size);
}

cutis_result gltf_error_memory(const gltf_document *document)
{
    if (document->memory.failed) return error_memory(document->error, document->name);
    return gltf_error(
        document, CUTIS_ERROR_UNSUPPORTED,
        "it expands to more than %zu MB, which is too large for its size; reduce instances or morph targets",
        gltf_budget(document) >> 20);
}

gltf_place gltf_place_make(const char *format, ...)
{
    gltf_place place;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(place.text, sizeof place.text, format, arguments);
    va_end(arguments);
    return place;
}

/* ---- values ---- */

/* An integer, also one that an exporter wrote as 3.0; -1 when it is neither or negative. */
static json_int_t value_integer(const json_t *value)
{
    if (json_is_integer(value)) return json_integer_value(value) < 0 ? -1 : json_integer_value(value);
    if (json_is_real(value)) {
        double real = json_real_value(value);
        if (real >= 0 && real < 9e15 && real == floor(real)) return (json_int_t)real;
    }
    return -1;
}

cutis_result gltf_get_index(const gltf_document *document, const json_t *object, const char *key, const char *place,
                            int count, bool required, int *index)
{
    const json_t *value = json_object_get(object, key);
    *index = -1;
    if (!value && !required) return CUTIS_OK;
    if (!value) return gltf_error(document, CUTIS_ERROR_FORMAT, "%s: has no '%s'", place, key);

    /* an index in range */
    json_int_t integer = value_integer(value);
    if (integer < 0) return gltf_error(document, CUTIS_ERROR_FORMAT, "%s: '%s' is not an index", place, key);
    if (integer >= count)
        return gltf_error(document, CUTIS_ERROR_FORMAT, "%s: '%s' is %lld, but there are only %d", place, key,
                          (long long)integer, count);

    *index = (int)integer;
    return CUTIS_OK;
}

cutis_result gltf_get_size(const gltf_document *document, const json_t *object, const char *key, const char *place,
                           size_t missing, size_t *size)
{
    const json_t *value = json_object_get(object, key);
    *size = missing;
    if (!value) return CUTIS_OK;
    json_int_t integer = value_integer(value);
    if (integer < 0)
        return gltf_error(document, CUTIS_ERROR_FORMAT, "%s: '%s' is not a non-negative integer", place, key);
    *size = (size_t)integer;
    return CUTIS_OK;
}

cutis_result gltf_get_numbers(const gltf_document *document, const json_t *object, const char *key, const char *place,
                              int count, double *values, bool *found)
{
    const json_t *list = json_object_get(object, key);
    *found = list != NULL;
    if (!list) return CUTIS_OK;

    /* finite numbers, as many as are needed */
    if (json_array_size(list) != (size_t)count)
        return gltf_error(document, CUTIS_ERROR_FORMAT, "%s: '%s' is not an array of %d numbers", place, key, count);

    for (int i = 0; i < count; i++) {
        const json_t *value = json_array_get(list, (size_t)i);
        if (!json_is_number(value) || !(fabs(json_number_value(value)) <= FLT_MAX))
            return gltf_error(document, CUTIS_ERROR_FORMAT, "%s: '%s'[%d] is not a finite number", place, key, i);
        values[i] = json_number_value(value);
    }

    return CUTIS_OK;
}

const char *gltf_get_string(const json_t *object, const char *key)
{
    return json_string_value(json_object_get(object, key));
}

json_t *gltf_get_extras(const json_t *object)
{
    json_t *extras = json_object_get(json_object_get(object, "extras"), "cutis");
    return json_is_object(extras) ? extras : NULL;
}

/* ---- buffers ---- */

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* %20 and the like, in place; the text only becomes shorter. */
static void percent_decode(char *text)
{
    char *out = text;
    for (; *text; text++) {
        if (*text == '%' && hex_digit(text[1]) >= 0 && hex_digit(text[2]) >= 0) {
            *out++ = (char)(hex_digit(text[1]) * 16 + hex_digit(text[2]));
            text += 2;
        } else {
            *out++ = *text;
        }
    }
    *out = 0;
}

/* Whether a URI starts with a scheme such as "https:". */
static bool uri_has_scheme(const char *uri)
{
    size_t length = strcspn(uri, ":/?#");
    return uri[length] == ':';
}

static cutis_result buffer_read_data_uri(gltf_document *document, const char *uri, int index, gltf_buffer *buffer,
                                         size_t *available)
{
    const char *comma = strchr(uri, ',');
    if (!comma || comma - uri < 7 || strncmp(comma - 7, ";base64", 7) != 0)
        return gltf_error(document, CUTIS_ERROR_FORMAT, "buffer %d: its data URI is not base64", index);
    uint8_t *bytes = gltf_allocate(document, strlen(comma + 1) / 4 * 3 + 3, 1);
    if (!bytes) return gltf_error_memory(document);
    if (!base64_decode(comma + 1, bytes, available))
        return gltf_error(document, CUTIS_ERROR_FORMAT, "buffer %d: its data URI is not valid base64", index);
    buffer->bytes = bytes;
    return CUTIS_OK;
}

/* The path of a relative URI beside the file at `path`; NULL when memory runs out. */
static char *uri_path(const char *path, const char *uri, arena *memory)
{
    size_t folder = (size_t)(path_base(path) - path), length = strlen(uri);
    char *full = arena_push(memory, folder + length + 1, 1);
    if (!full) return NULL;
    memcpy(full, path, folder);
    memcpy(full + folder, uri, length + 1);
    percent_decode(full + folder);
    return full;
}

const char *gltf_image_read(const char *path, const char *uri, arena *memory, file_data *file)
{
    static const struct {
        const char *ending, *type;
    } types[] = {{".png", "image/png"},
                 {".jpg", "image/jpeg"},
                 {".jpeg", "image/jpeg"},
                 {".webp", "image/webp"},
                 {".ktx2", "image/ktx2"}};

    *file = (file_data){0};
    if (uri_has_scheme(uri) || uri[0] == '/') return NULL;

    /* a type that glTF allows, by its ending */
    char *full = uri_path(path, uri, memory);
    for (int i = 0; full && i < COUNT_OF(types); i++)
        if (path_ends(uri, types[i].ending))
            return file_read(full, 0, NULL, file, NULL) == CUTIS_OK ? types[i].type : NULL;
    return NULL;
}

static cutis_result buffer_read_file(gltf_document *document, const char *uri, const char *path, int index,
                                     gltf_buffer *buffer, size_t *available)
{
    /* only files beside the document */
    if (uri_has_scheme(uri))
        return gltf_error(document, CUTIS_ERROR_UNSUPPORTED,
                          "buffer %d: the file '%.100s' is missing; download it into the same folder", index, uri);
    if (uri[0] == '/')
        return gltf_error(document, CUTIS_ERROR_UNSUPPORTED,
                          "buffer %d: '%.100s' is an absolute path; glTF requires a path relative to the file", index,
                          uri);

    /* read beside the document */
    char *full = uri_path(path, uri, &document->memory);
    if (!full) return gltf_error_memory(document);

    cutis_error reason;
    cutis_result result = file_read(full, buffer->size, &document->memory.allocator, &buffer->file, &reason);
    if (result == CUTIS_ERROR_MEMORY) return error_memory(document->error, "a buffer");
    if (result != CUTIS_OK) return gltf_error(document, result, "buffer %d: %s", index, reason.text);

    document->input_bytes += buffer->file.size;
    buffer->bytes = buffer->file.bytes;
    *available = buffer->file.size;
    return CUTIS_OK;
}

/* Whether all views of a buffer are compressed elsewhere, so that it need not be there. */
static bool buffer_is_placeholder(const gltf_document *document, int index)
{
    bool used = false;
    for (int i = 0; i < document->view_count; i++) {
        const json_t *view = json_array_get(document->buffer_views, (size_t)i);
        const json_t *packing = gltf_view_packing(view);
        if (packing && value_integer(json_object_get(packing, "buffer")) == index) return false;
        if (value_integer(json_object_get(view, "buffer")) != index) continue;
        if (!packing) return false;
        used = true;
    }
    return used;
}

static cutis_result buffers_read(gltf_document *document, const char *path, bool external, const uint8_t *chunk,
                                 size_t chunk_size)
{
    const json_t *list = json_object_get(document->root, "buffers");

    int count = (int)json_array_size(list);
    document->buffers = ARENA_ARRAY(&document->memory, gltf_buffer, count);
    if (!document->buffers) return gltf_error_memory(document);
    document->buffer_count = count;

    for (int i = 0; i < count; i++) {
        const json_t *object = json_array_get(list, (size_t)i);
        gltf_buffer *buffer = &document->buffers[i];
        gltf_place place = gltf_place_make("buffer %d", i);

        cutis_result result = gltf_get_size(document, object, "byteLength", place.text, 0, &buffer->size);
        if (result != CUTIS_OK) return result;
        if (buffer->size == 0) return gltf_error(document, CUTIS_ERROR_FORMAT, "buffer %d: has no 'byteLength'", i);

        /* the fallback of compressed views need not be there */
        if (buffer_is_placeholder(document, i)) {
            *buffer = (gltf_buffer){.bytes = (const uint8_t *)"", .size = 0};
            continue;
        }

        /* a data URI, a file beside the document, or the binary chunk, which only the first buffer may be */
        const char *uri = gltf_get_string(object, "uri");
        size_t available = 0;
        if (uri && strncmp(uri, "data:", 5) == 0) {
            result = buffer_read_data_uri(document, uri, i, buffer, &available);
        } else if (uri && !external && !uri_has_scheme(uri)) {
            result =
                gltf_error(document, CUTIS_ERROR_UNSUPPORTED,
                           "buffer %d: '%.100s' is an external file, which a document in memory cannot have", i, uri);
        } else if (uri) {
            result = buffer_read_file(document, uri, path, i, buffer, &available);
        } else if (i == 0 && chunk) {
            buffer->bytes = chunk;
            available = chunk_size;
        } else {
            result = gltf_error(document, CUTIS_ERROR_FORMAT,
                                "buffer %d: is missing; it has neither a 'uri' nor a chunk in the file", i);
        }
        if (result != CUTIS_OK) return result;

        /* padding may follow the declared bytes, but none may be missing */
        if (available < buffer->size)
            return gltf_error(document, CUTIS_ERROR_FORMAT, "buffer %d: declares %zu bytes, but only %zu are there", i,
                              buffer->size, available);
    }
    return CUTIS_OK;
}

/* ---- extensions ---- */

/* What changes neither shape nor motion may be required by a file: materials, textures, lights. */
static bool extension_known(const char *name)
{
    static const char *const prefixes[] = {"KHR_materials_", "KHR_texture_", "EXT_texture_",
                                           "MSFT_texture_",  "KHR_lights_",  "KHR_xmp",
                                           "EXT_lights_",    "VRM",          "ADOBE_materials_"};
    static const char *const names[] = {
        "KHR_mesh_quantization",   "FB_ngon_encoding",        "KHR_draco_mesh_compression",
        "EXT_meshopt_compression", "KHR_meshopt_compression", "KHR_node_visibility",
        "KHR_animation_pointer",   "KHR_node_selectability",  "KHR_node_hoverability"};

    /* by name, or by the beginning of it */
    for (int i = 0; i < COUNT_OF(names); i++)
        if (strcmp(name, names[i]) == 0) return true;
    for (int i = 0; i < COUNT_OF(prefixes); i++)
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0) return true;
    return false;
}

/* Whether some object of the document, `depth` levels down at most, holds something of this extension. */
static bool extension_used(json_t *value, const char *name, int depth)
{
    if (depth == 0) return true;

    size_t index;
    const char *key;
    json_t *inner;

    if (json_is_array(value)) {
        json_array_foreach(value, index, inner) if (extension_used(inner, name, depth - 1)) return true;
    } else if (json_is_object(value)) {
        if (json_object_get(json_object_get(value, "extensions"), name)) return true;
        json_object_foreach(value, key, inner) if (extension_used(inner, name, depth - 1)) return true;
    }
    return false;
}

/* A file may list as required what none of its objects uses. */
static cutis_result extensions_check(const gltf_document *document)
{
    const json_t *required = json_object_get(document->root, "extensionsRequired");
    for (size_t i = 0; i < json_array_size(required); i++) {
        const char *name = json_string_value(json_array_get(required, i));
        if (!name) return gltf_error(document, CUTIS_ERROR_FORMAT, "extensionsRequired[%zu] is not a name", i);
        if (extension_known(name) || !extension_used(document->root, name, 64)) continue;
        return gltf_error(document, CUTIS_ERROR_UNSUPPORTED,
                          "it requires the extension %.100s, which cutis does not support", name);
    }
    return CUTIS_OK;
}

/* Remember their names: unpacking takes some out of the JSON. */
static cutis_result extensions_list(gltf_document *document)
{
    const json_t *used = json_object_get(document->root, "extensionsUsed");

    size_t count = MIN(json_array_size(used), (size_t)1000);
    const char **names = gltf_allocate(document, count + 1, sizeof *names);
    if (!names) return gltf_error_memory(document);

    /* copies, which outlive the JSON */
    for (size_t i = 0; i < count; i++) {
        const char *name = json_string_value(json_array_get(used, i));
        if (!name) continue;
        names[document->extension_count] = arena_string(&document->memory, name);
        if (!names[document->extension_count++]) return gltf_error_memory(document);
    }

    document->extensions = names;
    return CUTIS_OK;
}

/* ---- document ---- */

/* Find the chunks of a .glb. */
static cutis_result glb_split(const gltf_document *document, const uint8_t *data, size_t size, const uint8_t **json,
                              size_t *json_size, const uint8_t **chunk, size_t *chunk_size)
{
    /* header of 12 bytes: magic, version, length */
    if (size < 20) return gltf_error(document, CUTIS_ERROR_FORMAT, "it is too short to be a .glb file");
    if (bytes_u32(data + 4) != 2)
        return gltf_error(document, CUTIS_ERROR_UNSUPPORTED,
                          "it is a .glb of version %u; only version 2 is supported; export it again",
                          (unsigned)bytes_u32(data + 4));

    /* its length must cover the header and a chunk's, and not exceed the file */
    size_t length = bytes_u32(data + 8);
    if (length < 20)
        return gltf_error(document, CUTIS_ERROR_FORMAT, "its header says that it is %zu bytes long", length);
    if (length > size)
        return gltf_error(document, CUTIS_ERROR_FORMAT, "the file is cut short: its header says %zu bytes, it has %zu",
                          length, size);

    /* chunks: JSON first, binary second; those of unknown type are skipped */
    size_t at = 12;
    for (int index = 0; length - at >= 8; index++) {
        size_t part = bytes_u32(data + at);
        uint32_t type = bytes_u32(data + at + 4);
        if (part > length - at - 8)
            return gltf_error(document, CUTIS_ERROR_FORMAT, "chunk %d of %zu bytes goes beyond the end of the file",
                              index, part);
        if (index == 0 && type != GLB_JSON)
            return gltf_error(document, CUTIS_ERROR_FORMAT, "its first chunk is not JSON");

        if (index == 0) {
            *json = data + at + 8;
            *json_size = part;
        }
        if (index == 1 && type == GLB_BIN) {
            *chunk = data + at + 8;
            *chunk_size = part;
        }

        at += 8 + part;
    }

    if (!*json) return gltf_error(document, CUTIS_ERROR_FORMAT, "it holds no JSON chunk");
    return CUTIS_OK;
}

/* A top-level list: absent, or an array of objects. */
static cutis_result list_get(const gltf_document *document, const char *key, json_t **list, int *count)
{
    *list = json_object_get(document->root, key);
    *count = 0;
    if (!*list) return CUTIS_OK;

    if (!json_is_array(*list)) return gltf_error(document, CUTIS_ERROR_FORMAT, "'%s' is not an array", key);
    if (json_array_size(*list) > INT_MAX / 64)
        return gltf_error(document, CUTIS_ERROR_UNSUPPORTED, "'%s' is too long", key);
    *count = (int)json_array_size(*list);

    for (int i = 0; i < *count; i++)
        if (!json_is_object(json_array_get(*list, (size_t)i)))
            return gltf_error(document, CUTIS_ERROR_FORMAT, "'%s'[%d] is not an object", key, i);
    return CUTIS_OK;
}

static cutis_result json_parse(gltf_document *document, const char *text, size_t size)
{
    json_error_t reason;

    document->root = json_loadb(text, size, 0, &reason);
    if (!document->root) {
        enum json_error_code code = json_error_code(&reason);
        if (code == json_error_out_of_memory || code == json_error_unknown)
            return error_memory(document->error, "a glTF document");
        return gltf_error(document, CUTIS_ERROR_FORMAT, "its JSON is damaged at line %d, column %d: %s", reason.line,
                          reason.column, reason.text);
    }

    if (!json_is_object(document->root)) return gltf_error(document, CUTIS_ERROR_FORMAT, "its JSON is not an object");
    return CUTIS_OK;
}

/* What a file is that calls itself glTF and is not, by how it begins; NULL: nothing known. */
static const char *stranger_name(const uint8_t *bytes, size_t size, const char *path)
{
    static const struct {
        const char *start, *name;
    } known[] = {{"Kaydara FBX", "an FBX file; rename it to .fbx"},
                 {"; FBX", "an FBX file; rename it to .fbx"},
                 {"BLENDER", "a Blender file; export it as glTF 2.0 (.glb) instead"},
                 {"version https://git-lfs", "a placeholder of Git LFS; run 'git lfs pull' to fetch the file itself"},
                 {"<", "a web page or XML; the download may have failed"},
                 {"PK", "a zip archive; unpack it"},
                 {"\x1f\x8b", "a gzip archive; unpack it"}};
    if (size == 0) return "empty";

    /* by its first bytes */
    for (int i = 0; i < COUNT_OF(known); i++) {
        size_t length = strlen(known[i].start);
        if (size >= length && memcmp(bytes, known[i].start, length) == 0) return known[i].name;
    }
    return bytes[0] == '{' && !path_ends(path, ".gltf") ? "JSON; rename it to .gltf" : NULL;
}

cutis_result gltf_document_parse(gltf_document *document, const void *data, size_t size, const char *path,
                                 bool external, const cutis_allocator *allocator, cutis_error *error)
{
    *document = (gltf_document){.name = path_base(path), .input_bytes = size, .error = error};
    document->memory = arena_create(allocator);

    /* the JSON: a chunk of a .glb, or the whole of a .gltf */
    const uint8_t *bytes = data, *json = data, *chunk = NULL;
    size_t json_size = size, chunk_size = 0;
    cutis_result result;
    if (size >= 4 && bytes_u32(bytes) == GLB_MAGIC) {
        json = NULL;
        result = glb_split(document, bytes, size, &json, &json_size, &chunk, &chunk_size);
        if (result != CUTIS_OK) return result;
        while (json_size && json[json_size - 1] == 0) json_size--; /* some exporters pad with zeros, not spaces */
    } else if (stranger_name(bytes, size, path)) {
        return gltf_error(document, CUTIS_ERROR_FORMAT, "it is not a glTF file: it is %s",
                          stranger_name(bytes, size, path));
    } else if (!path_ends(path, ".gltf")) {
        return gltf_error(document, CUTIS_ERROR_FORMAT, "it is not a .glb file: it does not start with 'glTF'");
    } else if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
        /* a byte order mark is not JSON */
        json += 3;
        json_size -= 3;
    }

    result = json_parse(document, (const char *)json, json_size);
    if (result != CUTIS_OK) return result;

    /* only glTF 2, and none of the required extensions unknown */
    const char *version = gltf_get_string(json_object_get(document->root, "asset"), "version");
    if (!version) return gltf_error(document, CUTIS_ERROR_FORMAT, "it has no asset.version, so it is not glTF 2.0");
    if (strncmp(version, "2.", 2) != 0)
        return gltf_error(document, CUTIS_ERROR_UNSUPPORTED,
                          "it is glTF %.20s; only glTF 2 is supported; export it again", version);

    result = extensions_check(document);
    if (result == CUTIS_OK) result = extensions_list(document);
    if (result != CUTIS_OK) return result;

    /* top-level lists, which all later indices refer to */
    json_t *buffers;
    int buffer_count;
    struct {
        const char *key;
        json_t **list;
        int *count;
    } lists[] = {{"scenes", &document->scenes, &document->scene_count},
                 {"nodes", &document->nodes, &document->node_count},
                 {"meshes", &document->meshes, &document->mesh_count},
                 {"skins", &document->skins, &document->skin_count},
                 {"animations", &document->animations, &document->animation_count},
                 {"accessors", &document->accessors, &document->accessor_count},
                 {"bufferViews", &document->buffer_views, &document->view_count},
                 {"materials", &document->materials, &document->material_count},
                 {"buffers", &buffers, &buffer_count}};

    for (int i = 0; i < COUNT_OF(lists); i++) {
        result = list_get(document, lists[i].key, lists[i].list, lists[i].count);
        if (result != CUTIS_OK) return result;
    }

    /* buffers, then what is compressed in them */
    result = buffers_read(document, path, external, chunk, chunk_size);
    return result == CUTIS_OK ? gltf_document_unpack(document) : result;
}

void gltf_document_destroy(gltf_document *document)
{
    for (int i = 0; document->buffers && i < document->buffer_count; i++) file_release(&document->buffers[i].file);
    json_decref(document->root);
    arena_destroy(&document->memory);
    *document = (gltf_document){.name = ""};
}

/* ---- accessors ---- */

size_t gltf_component_size(int type)
{
    switch (type) {
    case GLTF_BYTE:
    case GLTF_UNSIGNED_BYTE:
        return 1;
    case GLTF_SHORT:
    case GLTF_UNSIGNED_SHORT:
        return 2;
    case GLTF_UNSIGNED_INT:
    case GLTF_FLOAT:
        return 4;
    default:
        return 0;
    }
}

int gltf_type_components(const char *type)
{
    static const struct {
        const char *name;
        int components;
    } types[] = {{"SCALAR", 1}, {"VEC2", 2}, {"VEC3", 3}, {"VEC4", 4}, {"MAT4", 16}};
    for (int i = 0; type && i < COUNT_OF(types); i++)
        if (strcmp(type, types[i].name) == 0) return types[i].components;
    return 0;
}

cutis_result gltf_view_bytes(const gltf_document *document, int index, const uint8_t **bytes, size_t *size)
{
    const json_t *view = json_array_get(document->buffer_views, (size_t)index);

    gltf_place place = gltf_place_make("buffer view %d", index);
    int buffer_index;
    size_t offset;

    cutis_result result =
        gltf_get_index(document, view, "buffer", place.text, document->buffer_count, true, &buffer_index);
    if (result == CUTIS_OK) result = gltf_get_size(document, view, "byteOffset", place.text, 0, &offset);
    if (result == CUTIS_OK) result = gltf_get_size(document, view, "byteLength", place.text, 0, size);
    if (result != CUTIS_OK) return result;

    const gltf_buffer *buffer = &document->buffers[buffer_index];
    if (offset > buffer->size || *size > buffer->size - offset)
        return gltf_error(document, CUTIS_ERROR_FORMAT, "buffer view %d: goes beyond the %zu bytes of buffer %d", index,
                          buffer->size, buffer_index);

    *bytes = buffer->bytes + offset;
    return CUTIS_OK;
}

/*
 * The bytes of `count` elements of `element` bytes in a buffer view, from `offset` on. stride is 0 for a tight
 * array and may be replaced by the view's own.
 */
static cutis_result view_open(const gltf_document *document, const json_t *object, const char *place, size_t count,
                              size_t element, bool strided, const uint8_t **bytes, size_t *stride)
{
    int index;

    size_t offset, view_size, view_stride;
    const uint8_t *view_bytes;

    cutis_result result = gltf_get_index(document, object, "bufferView", place, document->view_count, true, &index);
    if (result != CUTIS_OK) return result;

    const json_t *view = json_array_get(document->buffer_views, (size_t)index);
    gltf_place view_place = gltf_place_make("buffer view %d", index);
    result = gltf_get_size(document, object, "byteOffset", place, 0, &offset);
    if (result == CUTIS_OK) result = gltf_get_size(document, view, "byteStride", view_place.text, 0, &view_stride);
    if (result == CUTIS_OK) result = gltf_view_bytes(document, index, &view_bytes, &view_size);
    if (result != CUTIS_OK) return result;

    /* elements fit into the stride */
    *stride = strided && view_stride ? view_stride : element;
    if (*stride < element || *stride > 4096)
        return gltf_error(document, CUTIS_ERROR_FORMAT,
                          "buffer view %d: byteStride %zu does not fit elements of %zu bytes", index, *stride, element);

    /* offset + stride (count - 1) + element <= view_size, without overflow */
    if (offset > view_size || element > view_size - offset || (count - 1) > (view_size - offset - element) / *stride)
        return gltf_error(document, CUTIS_ERROR_FORMAT,
                          "%s: its %zu elements go beyond the %zu bytes of buffer view %d", place, count, view_size,
                          index);

    *bytes = view_bytes + offset;
    return CUTIS_OK;
}

static uint32_t read_unsigned(const uint8_t *bytes, int type)
{
    return type == GLTF_UNSIGNED_BYTE ? bytes[0] : type == GLTF_UNSIGNED_SHORT ? bytes_u16(bytes) : bytes_u32(bytes);
}

static cutis_result sparse_open(const gltf_document *document, const json_t *sparse, const char *place,
                                gltf_accessor *accessor)
{
    size_t count, type, stride;

    /* as many replaced elements as the accessor has, at most */
    cutis_result result = gltf_get_size(document, sparse, "count", place, 0, &count);
    if (result != CUTIS_OK) return result;
    if (count == 0 || count > (size_t)accessor->count)
        return gltf_error(document, CUTIS_ERROR_FORMAT, "%s: sparse.count is %zu for %d elements", place, count,
                          accessor->count);

    /* indices are unsigned integers of any width */
    const json_t *indices = json_object_get(sparse, "indices");
    result = gltf_get_size(document, indices, "componentType", place, 0, &type);
    if (result != CUTIS_OK) return result;
    if (type != GLTF_UNSIGNED_BYTE && type != GLTF_UNSIGNED_SHORT && type != GLTF_UNSIGNED_INT)
        return gltf_error(document, CUTIS_ERROR_FORMAT, "%s: its sparse indices are not unsigned integers", place);
    accessor->sparse_type = (int)type;

    /* indices and values are tight arrays */
    size_t index_size = gltf_component_size((int)type);
    result = view_open(document, indices, place, count, index_size, false, &accessor->sparse_indices, &stride);
    if (result == CUTIS_OK)
        result = view_open(document, json_object_get(sparse, "values"), place, count,
                           gltf_component_size(accessor->type) * (size_t)accessor->components, false,
                           &accessor->sparse_values, &stride);
    if (result != CUTIS_OK) return result;

    /* all indices are within range, so that decoding need not check */
    for (size_t i = 0; i < count; i++) {
        uint32_t index = read_unsigned(accessor->sparse_indices + i * index_size, accessor->sparse_type);
        if (index >= (uint32_t)accessor->count)
            return gltf_error(document, CUTIS_ERROR_FORMAT,
                              "%s: sparse index %zu is %u, but there are only %d elements", place, i, (unsigned)index,
                              accessor->count);
    }

    accessor->sparse_count = (int)count;
    return CUTIS_OK;
}

cutis_result gltf_accessor_open(gltf_document *document, int index, const char *use, int components,
                                gltf_accessor *accessor)
{
    *accessor = (gltf_accessor){.index = index};

    gltf_place place = gltf_place_make("accessor %d (%.120s)", index, use);
    if (index < 0 || index >= document->accessor_count)
        return gltf_error(document, CUTIS_ERROR_FORMAT, "%s: there are only %d accessors", place.text,
                          document->accessor_count);

    /* number and type of its elements, bounded so that products fit into an int */
    const json_t *object = json_array_get(document->accessors, (size_t)index);
    const char *type_name = gltf_get_string(object, "type");
    size_t count, type;

    cutis_result result = gltf_get_size(document, object, "count", place.text, 0, &count);
    if (result == CUTIS_OK) result = gltf_get_size(document, object, "componentType", place.text, 0, &type);
    if (result != CUTIS_OK) return result;

    if (count == 0) return gltf_error(document, CUTIS_ERROR_DATA, "%s: is empty", place.text);
    if (count > INT_MAX / 16)
        return gltf_error(document, CUTIS_ERROR_UNSUPPORTED, "%s: %zu elements are too many", place.text, count);
    if (type > INT_MAX || gltf_component_size((int)type) == 0)
        return gltf_error(document, CUTIS_ERROR_FORMAT, "%s: componentType %zu is not defined by glTF", place.text,
                          type);

    /* the shape must be the one that the use needs; 34 stands for 3 or 4 components */
    accessor->components = gltf_type_components(type_name);
    if (accessor->components != components &&
        !(components == 34 && (accessor->components == 3 || accessor->components == 4)))
        return gltf_error(document, CUTIS_ERROR_FORMAT, "%s: type %.20s is not allowed here", place.text,
                          type_name ? type_name : "(none)");

    accessor->count = (int)count;
    accessor->type = (int)type;
    accessor->normalized = json_is_true(json_object_get(object, "normalized"));

    /* without a buffer view the elements are 0 */
    if (json_object_get(object, "bufferView")) {
        result = view_open(document, object, place.text, count,
                           gltf_component_size(accessor->type) * (size_t)accessor->components, true, &accessor->bytes,
                           &accessor->stride);
        if (result != CUTIS_OK) return result;
    }

    /* sparse values replace some of them */
    const json_t *sparse = json_object_get(object, "sparse");
    return sparse ? sparse_open(document, sparse, place.text, accessor) : CUTIS_OK;
}

static float component_float(const uint8_t *bytes, int type, bool normalized)
{
    switch (type) {
    case GLTF_BYTE: {
        float value = (float)(int8_t)bytes[0];
        return normalized ? MAX(value / 127.0f, -1.0f) : value;
    }
    case GLTF_UNSIGNED_BYTE:
        return normalized ? (float)bytes[0] / 255.0f : (float)bytes[0];
    case GLTF_SHORT: {
        float value = (float)(int16_t)bytes_u16(bytes);
        return normalized ? MAX(value / 32767.0f, -1.0f) : value;
    }
    case GLTF_UNSIGNED_SHORT:
        return normalized ? (float)bytes_u16(bytes) / 65535.0f : (float)bytes_u16(bytes);
    case GLTF_UNSIGNED_INT:
        return normalized ? (float)((double)bytes_u32(bytes) / 4294967295.0) : (float)bytes_u32(bytes);
    default:
        return bytes_float(bytes_u32(bytes));
    }
}

static void element_floats(const gltf_accessor *accessor, const uint8_t *bytes, float *values)
{
    size_t size = gltf_component_size(accessor->type);
    for (int c = 0; c < accessor->components; c++)
        values[c] = component_float(bytes + (size_t)c * size, accessor->type, accessor->normalized);
}

void gltf_accessor_decode(const gltf_accessor *accessor, float *values)
{
    size_t components = (size_t)accessor->components, element = gltf_component_size(accessor->type) * components;
    size_t total = (size_t)accessor->count * components;

    /* what the view holds, or zeros */
    if (accessor->bytes)
        for (size_t i = 0; i < (size_t)accessor->count; i++)
            element_floats(accessor, accessor->bytes + i * accessor->stride, values + i * components);
    else
        memset(values, 0, total * sizeof(float));

    /* sparse values replace some */
    for (size_t i = 0; i < (size_t)accessor->sparse_count; i++) {
        size_t at = read_unsigned(accessor->sparse_indices + i * gltf_component_size(accessor->sparse_type),
                                  accessor->sparse_type);
        element_floats(accessor, accessor->sparse_values + i * element, values + at * components);
    }
}

cutis_result gltf_accessor_floats(const gltf_document *document, const gltf_accessor *accessor, const char *use,
                                  float *values)
{
    size_t components = (size_t)accessor->components, total = (size_t)accessor->count * components;
    gltf_accessor_decode(accessor, values);
    if (accessor->type == GLTF_FLOAT)
        for (size_t i = 0; i < total; i++)
            if (!isfinite(values[i]))
                return gltf_error(document, CUTIS_ERROR_DATA, "accessor %d (%s): element %zu is not a finite number",
                                  accessor->index, use, i / components);
    return CUTIS_OK;
}

cutis_result gltf_accessor_integers(const gltf_document *document, const gltf_accessor *accessor, const char *use,
                                    uint32_t *values)
{
    if (accessor->type != GLTF_UNSIGNED_BYTE && accessor->type != GLTF_UNSIGNED_SHORT &&
        accessor->type != GLTF_UNSIGNED_INT)
        return gltf_error(document, CUTIS_ERROR_FORMAT, "accessor %d (%s): its values are not unsigned integers",
                          accessor->index, use);
    size_t components = (size_t)accessor->components, size = gltf_component_size(accessor->type);

    /* what the view holds, or zeros */
    for (size_t i = 0; i < (size_t)accessor->count; i++)
        for (size_t c = 0; c < components; c++)
            values[i * components + c] =
                accessor->bytes ? read_unsigned(accessor->bytes + i * accessor->stride + c * size, accessor->type) : 0;

    /* sparse values replace some */
    for (size_t i = 0; i < (size_t)accessor->sparse_count; i++) {
        size_t at = read_unsigned(accessor->sparse_indices + i * gltf_component_size(accessor->sparse_type),
                                  accessor->sparse_type);
        for (size_t c = 0; c < components; c++)
            values[at * components + c] =
                read_unsigned(accessor->sparse_values + (i * components + c) * size, accessor->type);
    }

    return CUTIS_OK;
}
