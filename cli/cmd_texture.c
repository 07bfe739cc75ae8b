/*
 * cmd_texture.c: textures for skin that slides: borders that continue islands across their seams, patterns that no seam
 * interrupts, a texture for each frame of a motion, and the wrinkles of a motion as a normal map.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "picture/picture.h"

/* Compression, as a share of length, at which skin starts to wrinkle. */
static const double buckling = 0.05;

/* What is asked for, and the texels of the character. */
typedef struct texture_job {
    const cli_arguments *arguments;
    cutis_character *character;
    int width, height;
    cutis_texel *texels;
    float *pixels; /* (height x width x 4), 0..1 as stored */
} texture_job;

static int texels_find(texture_job *job, double border)
{
    cutis_error error;
    size_t count = (size_t)job->width * (size_t)job->height;
    job->texels = cli_allocate(count, sizeof *job->texels);
    job->pixels = cli_allocate(count, 4 * sizeof *job->pixels);
    if (cutis_texture_map(job->character, job->width, job->height, border, NULL, job->texels, &error) != CUTIS_OK)
        return cli_library_error(&error);
    return CLI_OK;
}

/* ---- images ---- */

static int image_extend(texture_job *job, const picture_image *image)
{
    cutis_error error;
    size_t count = (size_t)job->width * (size_t)job->height * 4;
    for (size_t i = 0; i < count; i++) job->pixels[i] = (float)image->pixels[i] / 255;
    if (cutis_texture_extend(job->character, job->texels, job->width, job->height, 4, NULL, job->pixels, &error) !=
        CUTIS_OK)
        return cli_library_error(&error);
    return CLI_OK;
}

/* ---- patterns ---- */

/* Paint a pattern as seen along the axis in which the character is thinnest, so that no seam interrupts it. */
static void pattern_paint(texture_job *job, picture_texture pattern, float scale)
{
    const cutis_character *c = job->character;
    float low[3] = {HUGE_VALF, HUGE_VALF, HUGE_VALF}, high[3] = {-HUGE_VALF, -HUGE_VALF, -HUGE_VALF};

    /* the bounding box; the pattern is projected along its shortest side */
    for (int i = 0; i < 3 * c->vertex_count; i++) {
        low[i % 3] = fminf(low[i % 3], c->positions[i]);
        high[i % 3] = fmaxf(high[i % 3], c->positions[i]);
    }

    int thin = 0;
    for (int e = 1; e < 3; e++)
        if (high[e] - low[e] < high[thin] - low[thin]) thin = e;
    int across = thin == 0 ? 2 : 0, along = thin == 1 ? 2 : 1;

    /* on the colour of skin */
    const picture_mesh mesh = {.texture = pattern, .texture_scale = scale};
    for (size_t i = 0; i < (size_t)job->width * (size_t)job->height; i++) {
        /* project the texel's place on the plane */
        const cutis_texel *texel = &job->texels[i];
        float place[3] = {0, 0, 0}, color[3] = {0.86f, 0.70f, 0.625f};
        for (int k = 0; k < 3 && texel->triangle >= 0; k++)
            for (int e = 0; e < 3; e++)
                place[e] += texel->weights[k] * c->positions[3 * c->triangles[3 * texel->triangle + k] + e];

        const float uv[2] = {(place[across] - low[across]) / c->size, (place[along] - low[along]) / c->size};
        if (texel->triangle >= 0) picture_texture_apply(&mesh, uv, color);

        for (int e = 0; e < 3; e++) job->pixels[4 * i + (size_t)e] = picture_srgb(color[e]);
        job->pixels[4 * i + 3] = 1;
    }
}

/* ---- wrinkles ---- */

static int weights_write(const texture_job *job, const char *output, const float *weights, int frame_count)
{
    cutis_error error;
    cutis_cache_writer *writer = NULL;
    char *path = cli_format("%s.weights.npy", output);

    cutis_cache_info info = {
        .vertex_count = job->character->vertex_count, .frame_count = frame_count, .fps = 30, .components = 1};
    cutis_result result = cutis_cache_create(path, &info, NULL, &writer, &error);

    for (int f = 0; f < frame_count && result == CUTIS_OK; f++)
        result = cutis_cache_append(writer, weights + (size_t)f * (size_t)job->character->vertex_count, &error);

    if (result == CUTIS_OK)
        result = cutis_cache_finish(writer, &error);
    else
        cutis_cache_discard(writer);

    free(path);
    return result == CUTIS_OK ? CLI_OK : cli_library_error(&error);
}

static int wrinkles_make(texture_job *job, const char *path, const char *output)
{
    const cutis_character *c = job->character;
    picture_array folds;
    cutis_error error;
    if (picture_array_load(path, &folds, &error) != CUTIS_OK) return cli_library_error(&error);
    if (folds.dimension_count != 3 || folds.shape[1] != c->vertex_count || folds.shape[2] != 3) {
        picture_array_destroy(&folds);
        return cli_error(
            "%s must contain the folds of each vertex (frames x %d x 3), from 'cutis bake --outputs folds'", path,
            c->vertex_count);
    }

    /* the map, and by how much each frame shows it */
    int frame_count = (int)folds.shape[0];
    size_t count = (size_t)job->width * (size_t)job->height;
    float *normals = cli_allocate(count, 3 * sizeof *normals);
    float *weights = cli_allocate((size_t)frame_count, (size_t)c->vertex_count * sizeof *weights);
    double wavelength = cli_number(job->arguments, "wavelength") * (double)c->size;

    int status = CLI_OK;
    if (cutis_texture_wrinkles(c, job->texels, job->width, job->height, folds.values, frame_count, wavelength, buckling,
                               NULL, normals, NULL, weights, &error) != CUTIS_OK)
        status = cli_library_error(&error);

    for (size_t i = 0; i < count; i++) {
        for (size_t e = 0; e < 3; e++) job->pixels[4 * i + e] = 0.5f + 0.5f * normals[3 * i + e];
        job->pixels[4 * i + 3] = 1;
    }

    if (status == CLI_OK) status = weights_write(job, output, weights, frame_count);
    free(normals);
    free(weights);
    picture_array_destroy(&folds);
    return status;
}

/* ---- a texture for each frame ---- */

/* Share of the skin's area whose texels also show other skin. One texture per frame cannot show both. */
static double shared_part(const texture_job *job)
{
    const cutis_character *c = job->character;
    double shared = 0, all = 0;
    for (int t = 0; t < c->triangle_count; t++) {
        /* its middle in the texture and in space, its longest edge and its area */
        double uv[2] = {0, 0}, middle[3] = {0, 0, 0}, edges[2][3], longest = 0;
        const float *x[3];
        for (int k = 0; k < 3; k++) {
            const float *own = c->texcoords + 2 * c->triangle_corners[3 * t + k];
            x[k] = c->positions + 3 * c->triangles[3 * t + k];
            for (int e = 0; e < 2; e++) uv[e] += (double)own[e] / 3;
            for (int e = 0; e < 3; e++) middle[e] += (double)x[k][e] / 3;
        }
        for (int k = 0; k < 3; k++) {
            double square = 0;
            for (int e = 0; e < 3; e++) {
                double d = (double)x[(k + 1) % 3][e] - (double)x[k][e];
                if (k < 2) edges[k][e] = d;
                square += d * d;
            }
            longest = fmax(longest, sqrt(square));
        }
        double normal[3];
        for (int e = 0; e < 3; e++)
            normal[e] = edges[0][(e + 1) % 3] * edges[1][(e + 2) % 3] - edges[0][(e + 2) % 3] * edges[1][(e + 1) % 3];
        double area = sqrt(normal[0] * normal[0] + normal[1] * normal[1] + normal[2] * normal[2]) / 2;

        /* the place that its texel shows */
        size_t column = (size_t)((uv[0] - floor(uv[0])) * job->width) % (size_t)job->width;
        size_t row = (size_t)((uv[1] - floor(uv[1])) * job->height) % (size_t)job->height;
        const cutis_texel *texel = &job->texels[row * (size_t)job->width + column];
        double off = 0;
        for (int e = 0; e < 3 && texel->triangle >= 0; e++) {
            double place = 0;
            for (int k = 0; k < 3; k++)
                place +=
                    (double)texel->weights[k] * (double)c->positions[3 * c->triangles[3 * texel->triangle + k] + e];
            off += (place - middle[e]) * (place - middle[e]);
        }
        all += area;
        if (sqrt(off) > longest) shared += area;
    }
    return all > 0 ? shared / all : 0;
}

static int image_write(const texture_job *job, const char *output, bool quiet);

/* One file for each frame: OUT_0000.png, OUT_0001.png ... */
static int frames_write(texture_job *job, const char *path, const char *output)
{
    const cutis_character *c = job->character;
    picture_array sliding;
    cutis_error error;
    if (picture_array_load(path, &sliding, &error) != CUTIS_OK) return cli_library_error(&error);
    if (sliding.dimension_count != 3 || sliding.shape[1] != c->vertex_count || sliding.shape[2] != 3) {
        picture_array_destroy(&sliding);
        return cli_error(
            "%s must contain the sliding of each vertex (frames x %d x 3), from 'cutis bake --outputs sliding'", path,
            c->vertex_count);
    }

    double shared = shared_part(job);
    if (shared > 0.01)
        cli_warning("%.0f %% of the skin shares its texels with other skin, which a texture per frame cannot show; "
                    "unwrap it, or bake texture coordinates (--outputs texcoords)",
                    100 * shared);

    /* frame by frame, from the same image */
    bool quiet = cli_flag(job->arguments, "quiet");
    int frame_count = (int)sliding.shape[0];
    size_t size = (size_t)job->width * (size_t)job->height * 4;
    float *image = cli_allocate(size, sizeof *image);
    memcpy(image, job->pixels, size * sizeof *image);
    int stem = (int)strlen(output) - (int)strlen(".png");
    int status = CLI_OK;
    cli_progress progress;
    cli_progress_begin(&progress, "frames", frame_count, quiet);
    for (int f = 0; f < frame_count && status == CLI_OK && !cli_interrupted(); f++) {
        const float *own = sliding.values + (size_t)f * (size_t)c->vertex_count * 3;
        if (cutis_texture_slide(c, job->texels, job->width, job->height, 4, own, image, NULL, job->pixels, &error) !=
            CUTIS_OK)
            status = cli_library_error(&error);

        char *name = cli_format("%.*s_%04d.png", stem, output, f);
        if (status == CLI_OK) status = image_write(job, name, true);
        free(name);
        cli_progress_update(&progress, f + 1);
    }
    cli_progress_end(&progress);

    if (status == CLI_OK && !quiet)
        printf("%.*s_0000.png to _%04d.png: %d x %d\n", stem, output, frame_count - 1, job->width, job->height);
    free(image);
    picture_array_destroy(&sliding);
    return status;
}

/* ---- the command ---- */

static int image_write(const texture_job *job, const char *output, bool quiet)
{
    cutis_error error;
    picture_image image;
    if (!picture_image_create(job->width, job->height, &image)) return cli_error("out of memory");

    /* eight bits a channel, and what they cover */
    size_t count = (size_t)job->width * (size_t)job->height;
    size_t inside = 0, border = 0;
    for (size_t i = 0; i < 4 * count; i++) image.pixels[i] = (uint8_t)(picture_clamp01(job->pixels[i]) * 255 + 0.5f);
    for (size_t i = 0; i < count; i++) {
        inside += job->texels[i].triangle >= 0 && job->texels[i].distance == 0;
        border += job->texels[i].triangle >= 0 && job->texels[i].distance != 0;
    }

    /* save it, and say what it covers */
    int status = picture_png_write(output, &image, &error) == CUTIS_OK ? CLI_OK : cli_library_error(&error);
    if (status == CLI_OK && !quiet)
        printf("%s: %d x %d, islands %.1f %%, borders %.1f %%\n", output, job->width, job->height,
               100 * (double)inside / (double)count, 100 * (double)border / (double)count);

    picture_image_destroy(&image);
    return status;
}

static int texture_run(texture_job *job, picture_image *image)
{
    /* what is asked for */
    const cli_arguments *a = job->arguments;
    const char *input = a->positionals[0], *what = a->positional_count > 1 ? a->positionals[1] : NULL;
    const char *output = cli_text(a, "output"), *folds = cli_text(a, "folds");
    const char *sliding = cli_text(a, "sliding");

    /* what the command line needs */
    if (!output) return cli_usage_error(a, "the output is missing: -o OUT.png");
    if (!cli_has_ending(output, ".png")) return cli_usage_error(a, "'%s' must end in .png", output);
    if (!what == !folds) return cli_usage_error(a, "pass an image, a pattern, or --folds FILE.npy");
    if (sliding && folds) return cli_usage_error(a, "--sliding moves an image or a pattern, not --folds");

    float squares = 0;
    int pattern = what && !cli_has_ending(what, ".png") ? picture_texture_find(what, &squares) : PICTURE_TEXTURE_IMAGE;
    if (pattern < 0)
        return cli_usage_error(a, "'%s' is neither a .png nor a pattern: checker, grid, tattoo, veins, or checker@8",
                               what);

    int status = cli_check_output(output, cli_is_built_in(input) ? NULL : input, false);
    if (status != CLI_OK) return status;

    /* the character and its texels */
    job->character = cli_load_character(input, cli_flag(a, "quiet"), &status);
    if (!job->character) return status;

    /* as large as the image, or as asked for */
    job->width = cli_integer(a, "size");
    job->height = job->width;

    if (what && pattern == PICTURE_TEXTURE_IMAGE) {
        cutis_error error;
        if (picture_png_read(what, image, &error) != CUTIS_OK) return cli_library_error(&error);
        job->width = image->width;
        job->height = image->height;
    }

    status = texels_find(job, cli_number(a, "border"));
    if (status != CLI_OK) return status;

    if (folds)
        status = wrinkles_make(job, folds, output);
    else if (pattern == PICTURE_TEXTURE_IMAGE)
        status = image_extend(job, image);
    else
        pattern_paint(job, (picture_texture)pattern, squares);
    if (status != CLI_OK) return status;
    return sliding ? frames_write(job, sliding, output) : image_write(job, output, cli_flag(a, "quiet"));
}

static int run(const cli_arguments *arguments)
{
    texture_job job = {.arguments = arguments};
    picture_image image = {0};
    int status = texture_run(&job, &image);
    picture_image_destroy(&image);
    cutis_character_destroy(job.character);
    free(job.texels);
    free(job.pixels);
    return status;
}

static const cli_option options[] = {
    CLI_OPTION_OUTPUT("OUT.png", "the texture"),
    {.name = "border",
     .kind = CLI_NUMBER,
     .value = "N",
     .help = "width of the borders around islands, texels",
     .fallback = "16",
     .min = 0,
     .max = 1000},
    {.name = "folds",
     .kind = CLI_TEXT,
     .value = "FILE.npy",
     .help = "write a normal map of the wrinkles of 'cutis bake --solver slide --outputs folds', and "
             "OUT.png.weights.npy, its weight per frame and vertex"},
    {.name = "sliding",
     .kind = CLI_TEXT,
     .value = "FILE.npy",
     .help = "write a texture for each frame of 'cutis bake --solver slide --outputs sliding', OUT_0000.png and so on, "
             "for the character's own texture coordinates"},
    {.name = "wavelength",
     .kind = CLI_NUMBER,
     .value = "W",
     .help = "wavelength of the wrinkles, in character sizes",
     .fallback = "0.01",
     .min = 0.0001,
     .max = 1},
    {.name = "size",
     .kind = CLI_INTEGER,
     .value = "N",
     .help = "texels per side; an image keeps its size",
     .fallback = "2048",
     .min = 16,
     .max = 16384},
};

const cli_command cmd_texture = {
    .name = "texture",
    .usage = "CHARACTER [IMAGE.png | PATTERN] -o OUT.png [options]",
    .summary = "textures for sliding skin: borders across seams, one texture per frame, wrinkles as a normal map",
    .description = "Sliding skin moves texture coordinates across the seams of a texture. This command fills a border "
                   "around each island with the image beyond its seam, so that lines continue. The source is an image, "
                   "or a pattern (checker, grid, tattoo, veins; checker@8: 8 squares across) painted across all "
                   "islands. With --sliding it writes a texture without visible seams for each frame. With --folds it "
                   "writes a normal map of the wrinkles of a motion.",
    .examples = "cutis texture hero.glb skin.png -o skin_padded.png\n"
                "cutis bake hand --solver slide --clip fist --outputs sliding -o hand.pc2\n"
                "cutis texture hand veins --sliding hand.pc2.sliding.npy -o veins.png\n"
                "cutis bake neck --solver slide --clip look_up --outputs folds,texcoords -o neck.pc2\n"
                "cutis texture neck --folds neck.pc2.folds.npy -o wrinkles.png",
    .options = options,
    .option_count = CLI_COUNT(options),
    .positional_min = 1,
    .positional_max = 2,
    .run = run,
};
