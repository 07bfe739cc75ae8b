/*
 * picture_font.c: one line of text, in a stroke font made for this program.
 *
 * A glyph is a few strokes of lines and arcs of one width with round ends, drawn by distance, so that it is
 * sharp at any size. Units: capitals are 10 high, small letters 7, tails go down to -3.
 */
#include "picture.h"

#include <stdlib.h>

#define SPACING 2.7f /* between glyphs */
#define STROKE 1.25f /* width of a stroke */
#define MAX_SEGMENTS 160

/*
 * A stroke is a list of points "x,y" and arcs "@cx,cy,rx,ry,from,to" (degrees, counter-clockwise when `to` is
 * larger), joined by lines; ";" starts the next.
 */
typedef struct font_glyph {
    float width;
    const char *strokes;
} font_glyph;

/* clang-format off */
static const font_glyph GLYPHS[95] = {
    {3, ""}, /* space */
    {0, "0,10 0,3.2;0,.1 0,.2"}, /* ! */
    {2.2f, "0,10 0,7;2.2,10 2.2,7"}, /* " */
    {8, "1.8,0 3,10;5,0 6.2,10;0,3.2 7.6,3.2;.6,6.8 8,6.8"}, /* # */
    {6.8f, "@3.4,7.3,3.1,2.3,30,270 @3.4,2.7,3.4,2.3,90,-150;3.4,11.2 3.4,-1.2"}, /* $ */
    {8, ".2,0 7.8,10;@1.9,7.9,1.9,2.1,0,360;@6.1,2.1,1.9,2.1,0,360"}, /* % */
    {7.2f, "7.2,0 1.75,6.6 @3.1,8,1.9,2,225,-45 1,4.3 @3,2.6,3,2.6,140,350 7,4.8"}, /* & */
    {0, "0,10 0,7"}, /* ' */
    {1.6f, "@3.4,4.3,3.4,7.4,125,235"}, /* ( */
    {1.6f, "@-1.8,4.3,3.4,7.4,55,-55"}, /* ) */
    {4, "0,7.2 4,9.6;4,7.2 0,9.6;2,6.2 2,10.4"}, /* * */
    {6, "0,4.2 6,4.2;3,1.2 3,7.2"}, /* + */
    {0.6f, ".6,.3 0,-1.8"}, /* , */
    {3.6f, "0,4 3.6,4"}, /* - */
    {0, "0,.1 0,.2"}, /* . */
    {4.4f, "0,-1 4.4,10.6"}, /* / */
    {6.2f, "@3.1,5,3.1,5,90,450"}, /* 0 */
    {6.2f, "1.2,8 3.6,10 3.6,0"}, /* 1 */
    {6.2f, "@3.1,7.1,2.9,2.9,165,-35 .2,0 6.2,0"}, /* 2 */
    {6.2f, "@3,7.5,2.6,2.5,150,-90 @3,2.5,3.1,2.5,90,-150"}, /* 3 */
    {6.2f, "4.6,0 4.6,10 0,3 6.2,3"}, /* 4 */
    {6.2f, "5.6,10 1.1,10 .7,5.3 @3,3.25,3.1,3.25,135,-145"}, /* 5 */
    {6.2f, "@3.1,3.1,3.1,3.1,150,510 4.4,10"}, /* 6 */
    {6.2f, "0,10 6.2,10 2,0"}, /* 7 */
    {6.2f, "@3.1,7.6,2.6,2.4,-90,270 @3.1,2.6,3.1,2.6,90,450"}, /* 8 */
    {6.2f, "@3.1,6.9,3.1,3.1,-30,-390 1.8,0"}, /* 9 */
    {0, "0,.2 0,.3;0,6 0,6.1"}, /* : */
    {0.6f, ".6,.3 0,-1.8;.6,6 .6,6.1"}, /* ; */
    {5.6f, "5.6,7.6 0,4.2 5.6,.8"}, /* < */
    {6, "0,5.6 6,5.6;0,2.8 6,2.8"}, /* = */
    {5.6f, "0,7.6 5.6,4.2 0,.8"}, /* > */
    {5.2f, "@2.6,7.6,2.6,2.4,160,-60 2.6,4.4 2.6,3;2.6,.1 2.6,.2"}, /* ? */
    {10.8f, "@5,4.4,2.2,2.6,0,360;7.2,7 7.2,3.4 @8.7,3.4,1.5,1.6,180,300 @5.4,4.4,5.4,5.8,-20,290"}, /* @ */
    {8, "0,0 4,10 8,0;1.4,3.4 6.6,3.4"}, /* A */
    {6.8f, "0,0 0,10 @3.6,7.6,2.6,2.4,90,-90 0,5.2;0,5.2 3.6,5.2 @4,2.6,2.8,2.6,90,-90 0,0"}, /* B */
    {7.8f, "@4.6,5,4.6,5,48,312"}, /* C */
    {7.6f, "0,0 0,10 @3,5,4.6,5,90,-90 0,0"}, /* D */
    {6, "6,0 0,0 0,10 6,10;0,5.2 5.2,5.2"}, /* E */
    {5.8f, "0,0 0,10 5.8,10;0,5 5,5"}, /* F */
    {8.2f, "@4.6,5,4.6,5,48,320 8.2,4.6 5.2,4.6"}, /* G */
    {7.2f, "0,0 0,10;7.2,0 7.2,10;0,5.2 7.2,5.2"}, /* H */
    {0, "0,0 0,10"}, /* I */
    {4.6f, "4.6,10 4.6,2.7 @2.3,2.7,2.3,2.7,0,-160"}, /* J */
    {7, "0,0 0,10;6.8,10 0,3.6;2.4,5.9 7,0"}, /* K */
    {5.6f, "0,10 0,0 5.6,0"}, /* L */
    {8.8f, "0,0 0,10 4.4,2.5 8.8,10 8.8,0"}, /* M */
    {7.2f, "0,0 0,10 7.2,0 7.2,10"}, /* N */
    {9.2f, "@4.6,5,4.6,5,90,450"}, /* O */
    {6.6f, "0,0 0,10 @3.8,7.2,2.8,2.8,90,-90 0,4.4"}, /* P */
    {9.2f, "@4.6,5,4.6,5,90,450;5.6,2.6 8.8,-.8"}, /* Q */
    {7, "0,0 0,10 @3.8,7.2,2.8,2.8,90,-90 0,4.4;3.6,4.4 7,0"}, /* R */
    {6.8f, "@3.4,7.5,3.1,2.5,30,270 @3.4,2.5,3.4,2.5,90,-150"}, /* S */
    {7.6f, "0,10 7.6,10;3.8,10 3.8,0"}, /* T */
    {7, "0,10 0,3.4 @3.5,3.4,3.5,3.4,180,360 7,10"}, /* U */
    {8, "0,10 4,0 8,10"}, /* V */
    {11.2f, "0,10 2.7,0 5.6,9 8.5,0 11.2,10"}, /* W */
    {7.4f, "0,0 7.4,10;0,10 7.4,0"}, /* X */
    {7.6f, "0,10 3.8,4.8 7.6,10;3.8,4.8 3.8,0"}, /* Y */
    {6.8f, "0,10 6.8,10 0,0 6.8,0"}, /* Z */
    {1.8f, "1.8,11 0,11 0,-2 1.8,-2"}, /* [ */
    {4.4f, "0,10.6 4.4,-1"}, /* \ */
    {1.8f, "0,11 1.8,11 1.8,-2 0,-2"}, /* ] */
    {5.2f, "0,6.4 2.6,10 5.2,6.4"}, /* ^ */
    {6, "0,-1.4 6,-1.4"}, /* _ */
    {1.4f, "0,10.4 1.4,8.6"}, /* ` */
    {5.6f, "@2.8,3.5,2.8,3.5,90,450;5.6,7 5.6,0"}, /* a */
    {5.6f, "0,10 0,0;@2.8,3.5,2.8,3.5,90,450"}, /* b */
    {5.1f, "@3,3.5,3,3.5,48,312"}, /* c */
    {5.6f, "@2.8,3.5,2.8,3.5,90,450;5.6,10 5.6,0"}, /* d */
    {5.7f, ".1,3.7 5.6,3.7 @2.85,3.5,2.8,3.5,3,318"}, /* e */
    {3.5f, "@3.3,8,2,2,75,180 1.3,0;0,6.6 3.3,6.6"}, /* f */
    {5.6f, "@2.8,3.5,2.8,3.5,90,450;5.6,7 5.6,-.6 @2.9,-.6,2.7,2.6,0,-150"}, /* g */
    {5.3f, "0,10 0,0;0,4.2 @2.65,4.3,2.65,2.7,180,0 5.3,0"}, /* h */
    {0, "0,7 0,0;0,9.6 0,9.7"}, /* i */
    {1.4f, "1.4,7 1.4,-1.2 @-.4,-1.2,1.8,1.7,0,-90;1.4,9.6 1.4,9.7"}, /* j */
    {5, "0,10 0,0;4.6,7 0,2.6;1.8,4.3 5,0"}, /* k */
    {0, "0,10 0,0"}, /* l */
    {8.8f, "0,7 0,0;0,4.3 @2.2,4.6,2.2,2.4,180,0 4.4,0;4.4,4.4 @6.6,4.6,2.2,2.4,180,0 8.8,0"}, /* m */
    {5.3f, "0,7 0,0;0,4.3 @2.65,4.3,2.65,2.7,180,0 5.3,0"}, /* n */
    {5.8f, "@2.9,3.5,2.9,3.5,90,450"}, /* o */
    {5.6f, "0,7 0,-3;@2.8,3.5,2.8,3.5,90,450"}, /* p */
    {5.6f, "@2.8,3.5,2.8,3.5,90,450;5.6,7 5.6,-3"}, /* q */
    {3.2f, "0,7 0,0;0,3.8 @2.6,4.2,2.6,2.8,180,75"}, /* r */
    {4.6f, "@2.3,5.25,2.1,1.75,35,270 @2.3,1.75,2.3,1.75,90,-150"}, /* s */
    {3.6f, "1.4,9.4 1.4,2 @3.2,2,1.8,2,180,285;0,7 3.4,7"}, /* t */
    {5.3f, "0,7 0,2.7 @2.65,2.7,2.65,2.7,180,360;5.3,7 5.3,0"}, /* u */
    {5.4f, "0,7 2.7,0 5.4,7"}, /* v */
    {8.2f, "0,7 2,0 4.1,6.6 6.2,0 8.2,7"}, /* w */
    {5, "0,0 5,7;0,7 5,0"}, /* x */
    {5.5f, "0,7 2.8,.3;5.5,7 1.6,-3"}, /* y */
    {4.8f, "0,7 4.8,7 0,0 4.8,0"}, /* z */
    {2.2f, "2.2,11 1.1,10.4 1.1,5.6 0,4.5 1.1,3.4 1.1,-1.4 2.2,-2"}, /* { */
    {0, "0,11 0,-2"}, /* | */
    {2.2f, "0,11 1.1,10.4 1.1,5.6 2.2,4.5 1.1,3.4 1.1,-1.4 0,-2"}, /* } */
    {6, "@1.5,4,1.5,1.2,180,0 @4.5,4,1.5,1.2,180,360"}, /* ~ */
};
/* clang-format on */

/* What stands for a character that the font does not have. */
static const font_glyph BOX = {5, "0,0 5,0 5,9 0,9 0,0"};

/* The glyph at *text, which moves on by one character of UTF-8. */
static const font_glyph *glyph_next(const char **text)
{
    unsigned char c = (unsigned char)*(*text)++;
    if (c >= 32 && c < 127) return &GLYPHS[c - 32];
    while (((unsigned char)**text & 0xc0) == 0x80) (*text)++;
    return &BOX;
}

float picture_text_width(const char *text, float height)
{
    float width = 0;
    for (bool first = true; *text; first = false) width += glyph_next(&text)->width + (first ? 0 : SPACING);
    return (width + STROKE) * height / 10;
}

typedef struct segment {
    float x0, y0, x1, y1;
} segment;

typedef struct font_pen {
    segment segments[MAX_SEGMENTS];
    int count;
    bool down;
    float x, y; /* last point */
} font_pen;

static void pen_move(font_pen *pen, float x, float y)
{
    if (pen->down && pen->count < MAX_SEGMENTS) pen->segments[pen->count++] = (segment){pen->x, pen->y, x, y};
    pen->down = true;
    pen->x = x;
    pen->y = y;
}

/* Turn the strokes of a glyph into segments. */
static void glyph_trace(const font_glyph *glyph, font_pen *pen)
{
    pen->count = 0;
    pen->down = false;

    /* strokes are numbers, spaces and semicolons */
    for (const char *s = glyph->strokes; *s;) {
        if (*s == ';') pen->down = false;
        if (*s == ';' || *s == ' ') {
            s++;
            continue;
        }

        /* a point, or an arc: centre, radii, angles */
        bool arc = *s == '@';
        float n[6] = {0};
        if (arc) s++;
        for (int i = 0; i < (arc ? 6 : 2); i++) {
            char *end;
            n[i] = strtof(s, &end);
            s = *end == ',' ? end + 1 : end;
        }

        if (!arc) {
            pen_move(pen, n[0], n[1]);
            continue;
        }

        /* an arc in steps of 15 degrees */
        int steps = (int)(fabsf(n[5] - n[4]) / 15) + 2;
        for (int i = 0; i <= steps; i++) {
            float angle = (n[4] + (n[5] - n[4]) * (float)i / (float)steps) * 3.14159265f / 180;
            pen_move(pen, n[0] + n[2] * cosf(angle), n[1] + n[3] * sinf(angle));
        }
    }
}

/* Squared distance to a segment. */
static float distance2(const segment *s, float x, float y)
{
    float dx = s->x1 - s->x0, dy = s->y1 - s->y0, px = x - s->x0, py = y - s->y0;
    float length2 = dx * dx + dy * dy;
    float t = length2 > 0 ? (px * dx + py * dy) / length2 : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    px -= t * dx;
    py -= t * dy;
    return px * px + py * py;
}

void picture_text_draw(picture_image *image, float x, float y, float height, picture_color color, const char *text)
{
    float scale = height / 10, radius = fmaxf(0.5f * STROKE * scale, 0.55f);
    x += 0.5f * STROKE * scale;

    while (*text) {
        const font_glyph *glyph = glyph_next(&text);
        font_pen pen;
        glyph_trace(glyph, &pen);

        /* pixels around the glyph */
        int x0 = (int)floorf(x - 2 * scale - radius - 1), x1 = (int)ceilf(x + (glyph->width + 2) * scale + radius + 1);
        int y0 = (int)floorf(y - 11.5f * scale - radius - 1), y1 = (int)ceilf(y + 3.5f * scale + radius + 1);

        /* distance to the nearest stroke */
        for (int py = y0 < 0 ? 0 : y0; py < y1 && py < image->height && pen.count > 0; py++)
            for (int px = x0 < 0 ? 0 : x0; px < x1 && px < image->width; px++) {
                float gx = ((float)px + 0.5f - x) / scale, gy = (y - (float)py - 0.5f) / scale, nearest = 1e9f;
                for (int i = 0; i < pen.count; i++) nearest = fminf(nearest, distance2(&pen.segments[i], gx, gy));
                float coverage = radius + 0.5f - sqrtf(nearest) * scale;
                if (coverage > 0) picture_image_blend(image, px, py, color, coverage);
            }

        /* on to the next */
        x += (glyph->width + SPACING) * scale;
    }
}
