/*
 * picture_file.c: PNG files, and numbers from NumPy files.
 *
 * A picture is written under a temporary name beside the target and renamed when it is whole.
 */
#include "picture.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef CUTIS_JPEG
#include <jpeglib.h>
#endif
#include <png.h>

#include "base/system.h"

cutis_result picture_fail(cutis_error *error, cutis_result code, const char *format, ...)
{
    if (error) {
        error->code = code;
        va_list arguments;
        va_start(arguments, format);
        vsnprintf(error->text, sizeof error->text, format, arguments);
        va_end(arguments);
    }
    return code;
}

char *picture_temporary_name(const char *path, const char *ending)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    size_t size = strlen(path) + strlen(ending) + 40;
    char *name = malloc(size);
    if (name) snprintf(name, size, "%.*s.%s.%ld.tmp%s", folder, path, path + folder, system_process(), ending);
    return name;
}

/* ---- PNG ---- */

static void png_failed(png_structp png, png_const_charp message)
{
    (void)message;
    longjmp(png_jmpbuf(png), 1);
}

static void png_warned(png_structp png, png_const_charp message)
{
    (void)png;
    (void)message;
}

/* Write to an open file; apart from its caller because of setjmp. */
static bool png_encode(FILE *file, const picture_image *image, const bool alpha, uint8_t *row)
{
    png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, png_failed, png_warned);
    png_infop info = png ? png_create_info_struct(png) : NULL;

    /* libpng comes back to this place when it fails */
    if (!info || setjmp(png_jmpbuf(png))) {
        png_destroy_write_struct(&png, &info);
        return false;
    }

    png_init_io(png, file);
    png_set_IHDR(png, info, (png_uint_32)image->width, (png_uint_32)image->height, 8,
                 alpha ? PNG_COLOR_TYPE_RGBA : PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
                 PNG_FILTER_TYPE_DEFAULT);
    png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
    png_write_info(png, info);

    for (int y = 0; y < image->height; y++) {
        const uint8_t *pixels = image->pixels + (size_t)y * (size_t)image->width * 4;
        int channels = alpha ? 4 : 3;
        for (int x = 0; x < image->width; x++) memcpy(row + x * channels, pixels + x * 4, (size_t)channels);
        png_write_row(png, row);
    }

    png_write_end(png, NULL);
    png_destroy_write_struct(&png, &info);
    return true;
}

cutis_result picture_png_write(const char *path, const picture_image *image, cutis_error *error)
{
    char *temporary = picture_temporary_name(path, "");
    uint8_t *row = malloc((size_t)image->width * 4);
    FILE *file = temporary && row ? system_open(temporary, "wb") : NULL;
    cutis_result result = CUTIS_OK;

    /* encode, and rename when whole */
    if (!temporary || !row) {
        result = picture_fail(error, CUTIS_ERROR_MEMORY, "out of memory to write %s", path);
    } else if (!file) {
        result = picture_fail(error, CUTIS_ERROR_FILE, "%s cannot be written: %s", path, strerror(errno));
    } else {
        /* Without alpha when all pixels are opaque. */
        size_t count = (size_t)image->width * (size_t)image->height;
        bool alpha = false;
        for (size_t i = 0; i < count && !alpha; i++) alpha = image->pixels[i * 4 + 3] != 255;

        /* write beside it, and rename when whole */
        bool good = png_encode(file, image, alpha, row);
        if (fclose(file) != 0) good = false;
        if (!good || !system_rename(temporary, path)) {
            result = picture_fail(error, CUTIS_ERROR_FILE, "%s cannot be written: %s", path,
                                  errno ? strerror(errno) : "the PNG library failed");
            system_remove(temporary);
        }
    }

    free(temporary);
    free(row);
    return result;
}

cutis_result picture_png_read(const char *path, picture_image *image, cutis_error *error)
{
    FILE *file = system_open(path, "rb");
    *image = (picture_image){0};
    if (!file) return picture_fail(error, CUTIS_ERROR_FILE, "%s cannot be read: %s", path, strerror(errno));

    png_image png = {.version = PNG_IMAGE_VERSION};
    cutis_result result = CUTIS_OK;

    if (!png_image_begin_read_from_stdio(&png, file) || png.width > 16384 || png.height > 16384) {
        result = picture_fail(error, CUTIS_ERROR_FORMAT, "%s is no PNG of at most 16384 pixels a side", path);
    } else if (!picture_image_create((int)png.width, (int)png.height, image)) {
        result = picture_fail(error, CUTIS_ERROR_MEMORY, "out of memory to read %s", path);
    } else {
        png.format = PNG_FORMAT_RGBA;
        if (!png_image_finish_read(&png, NULL, image->pixels, 0, NULL)) {
            result = picture_fail(error, CUTIS_ERROR_FORMAT, "%s is damaged: %s", path, png.message);
            picture_image_destroy(image);
        }
    }

    png_image_free(&png);
    fclose(file);
    return result;
}

static cutis_result png_decode(const void *bytes, size_t size, const char *name, picture_image *image,
                               cutis_error *error)
{
    png_image png = {.version = PNG_IMAGE_VERSION};
    cutis_result result = CUTIS_OK;

    if (!png_image_begin_read_from_memory(&png, bytes, size) || png.width > 16384 || png.height > 16384) {
        result = picture_fail(error, CUTIS_ERROR_FORMAT,
                              "the image of %s is not a PNG of at most 16384 pixels per side", name);
    } else if (!picture_image_create((int)png.width, (int)png.height, image)) {
        result = picture_fail(error, CUTIS_ERROR_MEMORY, "out of memory for the image of %s", name);
    } else {
        png.format = PNG_FORMAT_RGBA;
        if (!png_image_finish_read(&png, NULL, image->pixels, 0, NULL)) {
            result = picture_fail(error, CUTIS_ERROR_FORMAT, "the image of %s is damaged: %s", name, png.message);
            picture_image_destroy(image);
        }
    }

    png_image_free(&png);
    return result;
}

#ifdef CUTIS_JPEG
/* libjpeg's errors return to the caller. */
typedef struct jpeg_trouble {
    struct jpeg_error_mgr manager; /* first */
    jmp_buf back;
} jpeg_trouble;

static void jpeg_failed(j_common_ptr jpeg) { longjmp(((jpeg_trouble *)(void *)jpeg->err)->back, 1); }
static void jpeg_silent(j_common_ptr jpeg) { (void)jpeg; }

/* Rows of red, green and blue into the image; apart from its caller because of setjmp. */
static bool jpeg_rows(struct jpeg_decompress_struct *jpeg, jpeg_trouble *trouble, const void *bytes, size_t size,
                      picture_image *image)
{
    if (setjmp(trouble->back)) return false;
    jpeg_create_decompress(jpeg);
    jpeg_mem_src(jpeg, bytes, (unsigned long)size);
    jpeg_read_header(jpeg, TRUE);
    jpeg->out_color_space = JCS_RGB;
    jpeg_start_decompress(jpeg);
    if (jpeg->output_width > 16384 || jpeg->output_height > 16384) return false;
    if (!picture_image_create((int)jpeg->output_width, (int)jpeg->output_height, image)) return false;

    /* a row goes into the end of its own place, and spreads from the front */
    for (size_t width = jpeg->output_width; jpeg->output_scanline < jpeg->output_height;) {
        uint8_t *row = image->pixels + (size_t)jpeg->output_scanline * width * 4, *packed = row + width;
        jpeg_read_scanlines(jpeg, &packed, 1);
        for (size_t x = 0; x < width; x++) {
            memmove(row + 4 * x, row + width + 3 * x, 3);
            row[4 * x + 3] = 255;
        }
    }
    jpeg_finish_decompress(jpeg);
    return true;
}

static cutis_result jpeg_decode(const void *bytes, size_t size, const char *name, picture_image *image,
                                cutis_error *error)
{
    struct jpeg_decompress_struct jpeg = {0};
    jpeg_trouble trouble;
    jpeg.err = jpeg_std_error(&trouble.manager);
    trouble.manager.error_exit = jpeg_failed;
    trouble.manager.output_message = jpeg_silent;

    bool good = jpeg_rows(&jpeg, &trouble, bytes, size, image);
    jpeg_destroy_decompress(&jpeg);
    if (good) return CUTIS_OK;

    picture_image_destroy(image);
    return picture_fail(error, CUTIS_ERROR_FORMAT, "the image of %s is not a supported JPEG", name);
}
#endif

cutis_result picture_image_decode(const void *bytes, size_t size, const char *name, picture_image *image,
                                  cutis_error *error)
{
    static const uint8_t png_start[4] = {0x89, 'P', 'N', 'G'}, jpeg_start[2] = {0xff, 0xd8};
    *image = (picture_image){0};
    if (size > 4 && memcmp(bytes, png_start, 4) == 0) return png_decode(bytes, size, name, image, error);
    if (size > 4 && memcmp(bytes, jpeg_start, 2) == 0) {
#ifdef CUTIS_JPEG
        return jpeg_decode(bytes, size, name, image, error);
#else
        return picture_fail(error, CUTIS_ERROR_UNSUPPORTED,
                            "the image of %s is a JPEG, which this build cannot read; build it with libjpeg", name);
#endif
    }
    return picture_fail(error, CUTIS_ERROR_UNSUPPORTED, "the image of %s is neither PNG nor JPEG", name);
}

/* ---- NumPy ---- */

void picture_array_destroy(picture_array *array)
{
    free(array->values);
    *array = (picture_array){0};
}

/* Parse the header's dictionary: {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }. */
static bool header_parse(const char *text, char *type, picture_array *array)
{
    const char *descr = strstr(text, "'descr'"), *order = strstr(text, "'fortran_order'");
    const char *shape = strstr(text, "'shape'");
    if (!descr || !order || !shape) return false;

    /* C order, as rows */
    if (sscanf(descr + 7, " : '%7[^']'", type) != 1) return false;
    order += strcspn(order, ":");
    if (strncmp(order + strspn(order, ": "), "False", 5) != 0) return false;

    shape += strcspn(shape, "(");
    if (*shape++ != '(') return false;

    array->dimension_count = 0;
    while (*shape && *shape != ')') {
        char *end;
        long n = strtol(shape, &end, 10);
        if (end == shape || n < 0 || n > 2000000000L || array->dimension_count == 4) return false;
        array->shape[array->dimension_count++] = n;
        shape = end + strspn(end, ", ");
    }

    return *shape == ')';
}

static float number_read(const char *type, const uint8_t *p)
{
    union {
        float f4;
        double f8;
        int32_t i4;
        int64_t i8;
        int16_t i2;
    } n;

    /* by the type of the header */
    if (strcmp(type, "<f4") == 0) return memcpy(&n.f4, p, 4), n.f4;
    if (strcmp(type, "<f8") == 0) return memcpy(&n.f8, p, 8), (float)n.f8;
    if (strcmp(type, "<i4") == 0) return memcpy(&n.i4, p, 4), (float)n.i4;
    if (strcmp(type, "<i8") == 0) return memcpy(&n.i8, p, 8), (float)n.i8;
    if (strcmp(type, "<i2") == 0) return memcpy(&n.i2, p, 2), (float)n.i2;
    return (float)*p;
}

cutis_result picture_array_load(const char *path, picture_array *array, cutis_error *error)
{
    *array = (picture_array){0};
    FILE *file = system_open(path, "rb");
    if (!file) return picture_fail(error, CUTIS_ERROR_FILE, "%s cannot be read: %s", path, strerror(errno));

    cutis_result result = CUTIS_OK;
    uint8_t start[12], *data = NULL;
    char *header = NULL, type[8] = "";
    size_t header_size = 0, item = 0, count = 1;

    /* magic number and header */
    if (fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY", 6) != 0) {
        result = picture_fail(error, CUTIS_ERROR_FORMAT, "%s is not a NumPy file (.npy)", path);
        goto done;
    }

    /* length of the header, in 2 or in 4 bytes */
    header_size = start[8] | (size_t)start[9] << 8;
    if (start[6] > 1) {
        if (fread(start + 10, 1, 2, file) != 2) start[10] = start[11] = 255;
        header_size |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    }

    header = header_size < 65536 ? calloc(1, header_size + 1) : NULL;
    if (!header || fread(header, 1, header_size, file) != header_size || !header_parse(header, type, array)) {
        result = picture_fail(error, CUTIS_ERROR_FORMAT, "%s: its header is damaged, or its order is not C", path);
        goto done;
    }

    if (strcmp(type, "<f4") == 0 || strcmp(type, "<i4") == 0) item = 4;
    if (strcmp(type, "<f8") == 0 || strcmp(type, "<i8") == 0) item = 8;
    if (strcmp(type, "<i2") == 0) item = 2;
    if (strcmp(type, "|u1") == 0 || strcmp(type, "|b1") == 0) item = 1;
    if (item == 0) {
        result = picture_fail(error, CUTIS_ERROR_UNSUPPORTED, "%s holds numbers of type %s; use float32", path, type);
        goto done;
    }

    for (int i = 0; i < array->dimension_count; i++) {
        if (array->shape[i] > 0 && count > (size_t)1 << 40) break;
        count *= (size_t)array->shape[i];
    }
    if (count > (size_t)1 << 33) {
        result = picture_fail(error, CUTIS_ERROR_UNSUPPORTED, "%s is too large", path);
        goto done;
    }

    /* Read before allocating for the whole: a damaged shape must not ask for memory that the file cannot fill. */
    long here = ftell(file);
    fseek(file, 0, SEEK_END);
    if (here < 0 || (size_t)(ftell(file) - here) < count * item) {
        result = picture_fail(error, CUTIS_ERROR_FORMAT, "%s ends before its last number", path);
        goto done;
    }
    fseek(file, here, SEEK_SET);

    data = malloc(count * item + 1);
    array->values = malloc((count + 1) * sizeof(float));
    if (!data || !array->values) {
        result = picture_fail(error, CUTIS_ERROR_MEMORY, "out of memory to read %s", path);
        goto done;
    }
    if (fread(data, item, count, file) != count) {
        result = picture_fail(error, CUTIS_ERROR_FILE, "%s cannot be read", path);
        goto done;
    }
    for (size_t i = 0; i < count; i++) array->values[i] = number_read(type, data + i * item);

done:
    if (result != CUTIS_OK) picture_array_destroy(array);
    free(header);
    free(data);
    fclose(file);
    return result;
}
