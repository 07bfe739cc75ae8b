/*
 * picture_file.c: PNG files, video through the program ffmpeg, and numbers from NumPy files.
 *
 * Everything is written under a temporary name beside the target and renamed when it is whole. ffmpeg is
 * started without a shell and gets raw frames through a pipe; what it says goes to a file beside the target,
 * whose last line ends up in the error when it fails.
 */
#include "picture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <png.h>

static cutis_result fail(cutis_error *error, cutis_result code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static cutis_result fail(cutis_error *error, cutis_result code, const char *format, ...)
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

/* "DIR/.NAME.PID.tmpENDING": hidden, beside the target, and known by its ending to ffmpeg. NULL: no memory. */
static char *temporary_name(const char *path, const char *ending)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    size_t size = strlen(path) + strlen(ending) + 40;
    char *name = malloc(size);
    if (name) snprintf(name, size, "%.*s.%s.%ld.tmp%s", folder, path, path + folder, (long)getpid(), ending);
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
    char *temporary = temporary_name(path, "");
    uint8_t *row = malloc((size_t)image->width * 4);
    FILE *file = temporary && row ? fopen(temporary, "wb") : NULL;
    cutis_result result = CUTIS_OK;
    if (!temporary || !row) {
        result = fail(error, CUTIS_ERROR_MEMORY, "no memory is left to write %s", path);
    } else if (!file) {
        result = fail(error, CUTIS_ERROR_FILE, "%s cannot be written: %s", path, strerror(errno));
    } else {
        /* Without alpha when all pixels are opaque. */
        size_t count = (size_t)image->width * (size_t)image->height;
        bool alpha = false;
        for (size_t i = 0; i < count && !alpha; i++) alpha = image->pixels[i * 4 + 3] != 255;
        bool good = png_encode(file, image, alpha, row);
        if (fclose(file) != 0) good = false;
        if (!good || rename(temporary, path) != 0) {
            result = fail(error, CUTIS_ERROR_FILE, "%s cannot be written: %s", path,
                          errno ? strerror(errno) : "the PNG library failed");
            remove(temporary);
        }
    }
    free(temporary);
    free(row);
    return result;
}

/* ---- video ---- */

struct picture_video {
    char *path, *temporary, *log;
    pid_t encoder;
    int pipe;
    int width, height;
    uint8_t *rows; /* one frame, RGB */
};

bool picture_video_possible(void)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        size_t length = strcspn(path, ":");
        char file[4096];
        if (snprintf(file, sizeof file, "%.*s/ffmpeg", (int)length, path) < (int)sizeof file && access(file, X_OK) == 0)
            return true;
        path += length + (path[length] == ':');
    }
    return false;
}

static void video_free(picture_video *video)
{
    free(video->path);
    free(video->temporary);
    free(video->log);
    free(video->rows);
    free(video);
}

void picture_video_discard(picture_video *video)
{
    if (!video) return;
    if (video->pipe >= 0) close(video->pipe);
    if (video->encoder > 0) {
        kill(video->encoder, SIGKILL);
        while (waitpid(video->encoder, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    remove(video->temporary);
    remove(video->log);
    video_free(video);
}

/* The child: ffmpeg with raw frames at its standard input. 127 is left for "not found". */
static void encoder_run(const picture_video *video, int input, const char *ending, const char *size, const char *rate)
{
    const char *mp4[] = {"-c:v",      "libx264",    "-preset", "medium", "-crf",
                         "17",        "-pix_fmt",   "yuv420p", "-vf",    "pad=ceil(iw/2)*2:ceil(ih/2)*2:color=white",
                         "-movflags", "+faststart", NULL};
    const char *webm[] = {"-c:v", "libvpx-vp9", "-crf", "28", "-b:v", "0", "-pix_fmt", "yuv420p", "-row-mt", "1", NULL};
    const char *gif[] = {"-filter_complex",
                         "split[a][b];[a]palettegen=stats_mode=full[p];[b][p]paletteuse=dither=bayer:bayer_scale=4",
                         "-loop", "0", NULL};
    const char *const *codec = strcmp(ending, ".gif") == 0 ? gif : strcmp(ending, ".webm") == 0 ? webm : mp4;
    const char *arguments[40] = {"ffmpeg",   "-hide_banner", "-loglevel", "error", "-nostdin", "-y", "-f", "rawvideo",
                                 "-pix_fmt", "rgb24",        "-s",        size,    "-r",       rate, "-i", "pipe:0"};
    int count = 16;
    for (int i = 0; codec[i]; i++) arguments[count++] = codec[i];
    arguments[count++] = video->temporary;
    arguments[count] = NULL;
    int log = open(video->log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (dup2(input, 0) < 0 || log < 0 || dup2(log, 2) < 0 || dup2(log, 1) < 0) _exit(126);
    execvp("ffmpeg", (char *const *)arguments);
    _exit(127);
}

cutis_result picture_video_create(const char *path, int width, int height, double fps, picture_video **result,
                                  cutis_error *error)
{
    *result = NULL;
    const char *ending = strrchr(path, '.');
    if (!ending) ending = ".mp4";
    picture_video *video = calloc(1, sizeof *video);
    if (!video) return fail(error, CUTIS_ERROR_MEMORY, "no memory is left for %s", path);
    video->pipe = -1;
    video->width = width, video->height = height;
    video->path = strdup(path);
    video->temporary = temporary_name(path, ending);
    video->log = temporary_name(path, ".log");
    video->rows = malloc((size_t)width * (size_t)height * 3);
    if (!video->path || !video->temporary || !video->log || !video->rows) {
        video_free(video);
        return fail(error, CUTIS_ERROR_MEMORY, "no memory is left for %s", path);
    }
    char size[40], rate[40];
    snprintf(size, sizeof size, "%dx%d", width, height);
    snprintf(rate, sizeof rate, "%.6g", fps);

    /* A write to an encoder that has died must be an error here, not the end of the program. */
    signal(SIGPIPE, SIG_IGN);
    int ends[2];
    if (pipe(ends) != 0) {
        video_free(video);
        return fail(error, CUTIS_ERROR_FILE, "no pipe to ffmpeg can be opened: %s", strerror(errno));
    }
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    video->encoder = fork();
    if (video->encoder == 0) {
        /* Ctrl-C at the terminal is the program's to handle: it then discards the video. */
        setpgid(0, 0);
        signal(SIGPIPE, SIG_DFL);
        encoder_run(video, ends[0], ending, size, rate);
    }
    close(ends[0]);
    video->pipe = ends[1];
    if (video->encoder < 0) {
        cutis_result code = fail(error, CUTIS_ERROR_FILE, "ffmpeg cannot be started: %s", strerror(errno));
        picture_video_discard(video);
        return code;
    }
    *result = video;
    return CUTIS_OK;
}

/* Wait for the encoder and turn its end into a result. */
static cutis_result encoder_wait(picture_video *video, cutis_error *error)
{
    int status = 0;
    if (video->pipe >= 0) close(video->pipe);
    video->pipe = -1;
    while (waitpid(video->encoder, &status, 0) < 0)
        if (errno != EINTR) break;
    video->encoder = 0;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return CUTIS_OK;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return fail(error, CUTIS_ERROR_UNSUPPORTED, "the program ffmpeg, which makes videos, cannot be started");
    /* The last line that it said. */
    char line[200] = "", last[200] = "";
    FILE *log = fopen(video->log, "r");
    while (log && fgets(line, sizeof line, log))
        if (line[0] != '\n') memcpy(last, line, sizeof last);
    if (log) fclose(log);
    last[strcspn(last, "\n")] = 0;
    return fail(error, CUTIS_ERROR_FILE, "ffmpeg could not write %s: %s", video->path,
                last[0] ? last : "it gave no reason");
}

cutis_result picture_video_append(picture_video *video, const picture_image *image, cutis_error *error)
{
    size_t count = (size_t)video->width * (size_t)video->height;
    for (size_t i = 0; i < count; i++) memcpy(video->rows + i * 3, image->pixels + i * 4, 3);
    for (size_t done = 0; done < count * 3;) {
        ssize_t written = write(video->pipe, video->rows + done, count * 3 - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            cutis_result result = encoder_wait(video, error);
            return result != CUTIS_OK ? result
                                      : fail(error, CUTIS_ERROR_FILE, "ffmpeg stopped while writing %s", video->path);
        }
        done += (size_t)written;
    }
    return CUTIS_OK;
}

cutis_result picture_video_finish(picture_video *video, cutis_error *error)
{
    cutis_result result = encoder_wait(video, error);
    if (result == CUTIS_OK && rename(video->temporary, video->path) != 0)
        result = fail(error, CUTIS_ERROR_FILE, "%s cannot be written: %s", video->path, strerror(errno));
    picture_video_discard(video);
    return result;
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
    FILE *file = fopen(path, "rb");
    if (!file) return fail(error, CUTIS_ERROR_FILE, "%s cannot be read: %s", path, strerror(errno));
    cutis_result result = CUTIS_OK;
    uint8_t start[12], *data = NULL;
    char *header = NULL, type[8] = "";
    size_t header_size = 0, item = 0, count = 1;

    if (fread(start, 1, 10, file) != 10 || memcmp(start, "\x93NUMPY", 6) != 0) {
        result = fail(error, CUTIS_ERROR_FORMAT, "%s is not a NumPy file (.npy)", path);
        goto done;
    }
    header_size = start[8] | (size_t)start[9] << 8;
    if (start[6] > 1) {
        if (fread(start + 10, 1, 2, file) != 2) start[10] = start[11] = 255;
        header_size |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    }
    header = header_size < 65536 ? calloc(1, header_size + 1) : NULL;
    if (!header || fread(header, 1, header_size, file) != header_size || !header_parse(header, type, array)) {
        result = fail(error, CUTIS_ERROR_FORMAT, "%s: its header is damaged, or its order is not C", path);
        goto done;
    }
    if (strcmp(type, "<f4") == 0 || strcmp(type, "<i4") == 0) item = 4;
    if (strcmp(type, "<f8") == 0 || strcmp(type, "<i8") == 0) item = 8;
    if (strcmp(type, "<i2") == 0) item = 2;
    if (strcmp(type, "|u1") == 0 || strcmp(type, "|b1") == 0) item = 1;
    if (item == 0) {
        result = fail(error, CUTIS_ERROR_UNSUPPORTED, "%s holds numbers of type %s; use float32", path, type);
        goto done;
    }
    for (int i = 0; i < array->dimension_count; i++) {
        if (array->shape[i] > 0 && count > (size_t)1 << 40) break;
        count *= (size_t)array->shape[i];
    }
    if (count > (size_t)1 << 33) {
        result = fail(error, CUTIS_ERROR_UNSUPPORTED, "%s is too large", path);
        goto done;
    }
    /* Read before allocating for the whole: a damaged shape must not ask for memory that the file cannot fill. */
    long here = ftell(file);
    fseek(file, 0, SEEK_END);
    if (here < 0 || (size_t)(ftell(file) - here) < count * item) {
        result = fail(error, CUTIS_ERROR_FORMAT, "%s ends before its last number", path);
        goto done;
    }
    fseek(file, here, SEEK_SET);
    data = malloc(count * item + 1);
    array->values = malloc((count + 1) * sizeof(float));
    if (!data || !array->values) {
        result = fail(error, CUTIS_ERROR_MEMORY, "no memory is left to read %s", path);
        goto done;
    }
    if (fread(data, item, count, file) != count) {
        result = fail(error, CUTIS_ERROR_FILE, "%s cannot be read", path);
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
