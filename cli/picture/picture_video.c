/*
 * picture_video.c: video through the program ffmpeg, on POSIX systems.
 *
 * ffmpeg is started without a shell and gets raw frames through a pipe; what it says goes to a file beside the target,
 * whose last line ends up in the error when it fails. The video is renamed into place when it is whole.
 */
#include "picture.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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

    /* raw frames come through the pipe */
    const char *const *codec = strcmp(ending, ".gif") == 0 ? gif : strcmp(ending, ".webm") == 0 ? webm : mp4;
    const char *arguments[40] = {"ffmpeg",   "-hide_banner", "-loglevel", "error", "-nostdin", "-y", "-f", "rawvideo",
                                 "-pix_fmt", "rgb24",        "-s",        size,    "-r",       rate, "-i", "pipe:0"};

    /* codec by the ending; what it says goes into a log */
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
    if (!video) return picture_fail(error, CUTIS_ERROR_MEMORY, "out of memory for %s", path);
    video->pipe = -1;

    video->width = width;
    video->height = height;
    video->path = strdup(path);
    video->temporary = picture_temporary_name(path, ending);
    video->log = picture_temporary_name(path, ".log");
    video->rows = malloc((size_t)width * (size_t)height * 3);

    if (!video->path || !video->temporary || !video->log || !video->rows) {
        video_free(video);
        return picture_fail(error, CUTIS_ERROR_MEMORY, "out of memory for %s", path);
    }

    /* size and rate as text */
    char size[40], rate[40];
    snprintf(size, sizeof size, "%dx%d", width, height);
    snprintf(rate, sizeof rate, "%.6g", fps);

    /* A write to an encoder that has died must be an error here, not the end of the program. */
    signal(SIGPIPE, SIG_IGN);
    int ends[2];

    if (pipe(ends) != 0) {
        video_free(video);
        return picture_fail(error, CUTIS_ERROR_FILE, "no pipe to ffmpeg can be opened: %s", strerror(errno));
    }

    /* the encoder, in a process of its own */
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    video->encoder = fork();
    if (video->encoder == 0) {
        /* Ctrl-C at the terminal is the program's to handle: it then discards the video. */
        setpgid(0, 0);
        signal(SIGPIPE, SIG_DFL);
        encoder_run(video, ends[0], ending, size, rate);
    }

    /* the end of the pipe that frames go to */
    close(ends[0]);
    video->pipe = ends[1];
    if (video->encoder < 0) {
        cutis_result code = picture_fail(error, CUTIS_ERROR_FILE, "ffmpeg cannot be started: %s", strerror(errno));
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

    /* success, or an encoder that is missing */
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return CUTIS_OK;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 127)
        return picture_fail(error, CUTIS_ERROR_UNSUPPORTED,
                            "the program ffmpeg, which makes videos, cannot be started");

    /* The last line that it said. */
    char line[200] = "", last[200] = "";
    FILE *log = fopen(video->log, "r");
    while (log && fgets(line, sizeof line, log))
        if (line[0] != '\n') memcpy(last, line, sizeof last);
    if (log) fclose(log);
    last[strcspn(last, "\n")] = 0;

    return picture_fail(error, CUTIS_ERROR_FILE, "ffmpeg could not write %s: %s", video->path,
                        last[0] ? last : "it gave no reason");
}

cutis_result picture_video_append(picture_video *video, const picture_image *image, cutis_error *error)
{
    size_t count = (size_t)video->width * (size_t)video->height;

    /* without alpha */
    for (size_t i = 0; i < count; i++) memcpy(video->rows + i * 3, image->pixels + i * 4, 3);

    /* the pipe may take less at a time */
    for (size_t done = 0; done < count * 3;) {
        ssize_t written = write(video->pipe, video->rows + done, count * 3 - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) {
            cutis_result result = encoder_wait(video, error);
            return result != CUTIS_OK
                       ? result
                       : picture_fail(error, CUTIS_ERROR_FILE, "ffmpeg stopped while writing %s", video->path);
        }
        done += (size_t)written;
    }

    return CUTIS_OK;
}

cutis_result picture_video_finish(picture_video *video, cutis_error *error)
{
    cutis_result result = encoder_wait(video, error);
    if (result == CUTIS_OK && rename(video->temporary, video->path) != 0)
        result = picture_fail(error, CUTIS_ERROR_FILE, "%s cannot be written: %s", video->path, strerror(errno));
    picture_video_discard(video);
    return result;
}
