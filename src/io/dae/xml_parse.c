/*
 * xml_parse.c: XML 1.0 without entities, namespaces and DTDs: what COLLADA files use.
 */
#include "io/dae/xml_parse.h"

#include <limits.h>
#include <string.h>

enum { DEPTH_LIMIT = 200, ATTRIBUTE_LIMIT = 64 };

typedef struct xml_reader {
    const char *at, *end;
    arena *memory;
    int line;
    bool failed;
} xml_reader;

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

static void step(xml_reader *r)
{
    if (*r->at == '\n') r->line++;
    r->at++;
}

static void skip_space(xml_reader *r)
{
    while (r->at < r->end && is_space(*r->at)) step(r);
}

static bool starts(const xml_reader *r, const char *text)
{
    size_t length = strlen(text);
    return (size_t)(r->end - r->at) >= length && memcmp(r->at, text, length) == 0;
}

static bool skip_past(xml_reader *r, const char *text)
{
    while (r->at < r->end && !starts(r, text)) step(r);
    if (r->at == r->end) return false;
    r->at += strlen(text);
    return true;
}

static char *copy(xml_reader *r, const char *start, const char *end)
{
    char *text = arena_push(r->memory, (size_t)(end - start) + 1, 1);
    if (!text)
        r->failed = true;
    else if (end > start)
        memcpy(text, start, (size_t)(end - start));
    return text;
}

static char *read_name(xml_reader *r)
{
    const char *start = r->at;
    while (r->at < r->end && !is_space(*r->at) && !strchr("=/><\"'", *r->at)) r->at++;
    return r->at > start ? copy(r, start, r->at) : NULL;
}

static bool read_attributes(xml_reader *r, xml_node *node)
{
    const char *found[2 * ATTRIBUTE_LIMIT];

    /* attributes until the tag ends */
    for (;;) {
        skip_space(r);
        if (r->at == r->end) return false;
        if (*r->at == '>' || *r->at == '/' || *r->at == '?') break;

        /* name and equals sign */
        const char *key = read_name(r);
        skip_space(r);
        if (!key || r->at == r->end || *r->at != '=' || node->attribute_count == ATTRIBUTE_LIMIT) return false;
        r->at++;

        /* value in either kind of quotes */
        skip_space(r);
        if (r->at == r->end || (*r->at != '"' && *r->at != '\'')) return false;
        char quote = *r->at++;
        const char *start = r->at;
        while (r->at < r->end && *r->at != quote) step(r);
        if (r->at == r->end) return false;

        const char *value = copy(r, start, r->at++);
        if (!value) return false;

        found[2 * node->attribute_count] = key;
        found[2 * node->attribute_count++ + 1] = value;
    }

    /* an exact copy: most elements have few */
    node->attributes = arena_copy(r->memory, found, 2 * (size_t)node->attribute_count, sizeof *found);
    return node->attributes || node->attribute_count == 0;
}

/* Move to the next tag, over text, comments and declarations. */
static bool next_tag(xml_reader *r)
{
    for (;;) {
        /* up to the next tag */
        while (r->at < r->end && *r->at != '<') step(r);
        if (r->at == r->end) return false;

        /* comments and declarations are skipped */
        if (starts(r, "<!--")) {
            if (!skip_past(r, "-->")) return false;
        } else if (starts(r, "<?") || starts(r, "<!")) {
            if (!skip_past(r, ">")) return false;
        } else {
            return true;
        }
    }
}

/* An element, from its '<' on. */
static xml_node *read_element(xml_reader *r, int depth)
{
    /* depth is bounded: a damaged file must not overflow the stack */
    xml_node *node = depth < DEPTH_LIMIT ? ARENA_ARRAY(r->memory, xml_node, 1) : NULL;
    if (!node) return NULL;

    r->at++;
    node->name = read_name(r);
    if (!node->name || !read_attributes(r, node)) return NULL;

    if (*r->at == '/') {
        if (++r->at == r->end || *r->at++ != '>') return NULL;
        return node;
    }
    if (*r->at++ != '>') return NULL;

    node->text = r->at;
    xml_node **tail = &node->first_child;
    for (;;) {
        /* text counts up to the first tag */
        const char *before = r->at;
        if (!next_tag(r)) return NULL;
        if (tail == &node->first_child && !node->text_end) {
            node->text_end = before;
            while (node->text_end < r->at && *node->text_end != '<') node->text_end++;
        }

        /* the end tag must name the element */
        if (starts(r, "</")) {
            size_t length = strlen(node->name);
            r->at += 2;
            if (!starts(r, node->name)) return NULL;
            r->at += length;

            skip_space(r);
            if (r->at == r->end || *r->at++ != '>') return NULL;
            return node;
        }

        *tail = read_element(r, depth + 1);
        if (!*tail) return NULL;
        tail = &(*tail)->next;
    }
}

xml_node *xml_parse(const char *text, size_t size, arena *memory, int *line)
{
    xml_reader r = {.at = text, .end = text + size, .memory = memory, .line = 1};
    xml_node *root = next_tag(&r) ? read_element(&r, 0) : NULL;
    *line = memory->failed ? 0 : r.line;
    return root;
}

const xml_node *xml_child(const xml_node *node, const char *name)
{
    for (const xml_node *child = node ? node->first_child : NULL; child; child = child->next)
        if (strcmp(child->name, name) == 0) return child;
    return NULL;
}

const xml_node *xml_next(const xml_node *node, const char *name)
{
    for (const xml_node *other = node ? node->next : NULL; other; other = other->next)
        if (strcmp(other->name, name) == 0) return other;
    return NULL;
}

const char *xml_attribute(const xml_node *node, const char *key)
{
    for (int i = 0; node && i < node->attribute_count; i++)
        if (strcmp(node->attributes[2 * i], key) == 0) return node->attributes[2 * i + 1];
    return "";
}

double *xml_numbers(const xml_node *node, arena *memory, int *count)
{
    *count = 0;

    size_t words = 0;
    const char *at = node ? node->text : NULL, *end = node ? node->text_end : NULL;

    /* no more numbers than words */
    for (const char *p = at; p && p < end; p++) words += !is_space(*p) && (p == at || is_space(p[-1]));
    if (words > INT_MAX / 16) return NULL;
    double *numbers = ARENA_ARRAY(memory, double, words + 1);

    while (numbers && at && at < end) {
        while (at < end && is_space(*at)) at++;
        const char *word = at;
        double value;

        /* a word that is no number counts as 0 */
        if (at < end && text_number(&at, end, &value) && value > -1e300 && value < 1e300) numbers[*count] = value;
        while (at < end && !is_space(*at)) at++;
        if (at > word) (*count)++;
    }

    return numbers;
}
