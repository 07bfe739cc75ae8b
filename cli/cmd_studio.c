/*
 * cmd_studio.c: serve the page `studio`, on this machine only, and open the browser.
 *
 * A small HTTP/1.1 server: one connection at a time, GET only. It serves the files of one folder and the given
 * character, with the headers that threads in a page need (COOP, COEP). It listens on 127.0.0.1 only and checks the
 * Host header, so pages of other sites cannot use it.
 */
#include <stdlib.h>
#include <string.h>

#include "base/system.h"
#include "cli.h"
#include "process.h"

#ifdef _WIN32

static int run(const cli_arguments *arguments)
{
    (void)arguments;
    return cli_error(
        "'cutis studio' is not available on Windows; serve the folder share/cutis/studio with another server");
}

#else

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

enum { REQUEST_LIMIT = 8192, WAIT_MS = 200, PATIENCE_MS = 5000 };

typedef struct studio {
    char folder[1024];     /* of the page */
    const char *character; /* path of a file, or NULL */
    int socket;
    int port;
} studio;

static const char *content_type(const char *path)
{
    static const char *const types[][2] = {{".html", "text/html; charset=utf-8"}, {".js", "text/javascript"},
                                           {".mjs", "text/javascript"},           {".css", "text/css"},
                                           {".wasm", "application/wasm"},         {".json", "application/json"}};
    for (int i = 0; i < CLI_COUNT(types); i++)
        if (cli_has_ending(path, types[i][0])) return types[i][1];
    return "application/octet-stream";
}

static void send_all(int client, const char *data, size_t size)
{
    while (size > 0) {
        ssize_t sent = send(client, data, size, MSG_NOSIGNAL);
        if (sent <= 0) return;
        data += sent;
        size -= (size_t)sent;
    }
}

static void send_head(int client, const char *status, const char *type, uint64_t size)
{
    char head[512];
    int length = snprintf(head, sizeof head,
                          "HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %llu\r\nConnection: close\r\n"
                          "Cache-Control: no-cache\r\nCross-Origin-Opener-Policy: same-origin\r\n"
                          "Cross-Origin-Embedder-Policy: require-corp\r\nCross-Origin-Resource-Policy: same-origin\r\n"
                          "X-Content-Type-Options: nosniff\r\n\r\n",
                          status, type, (unsigned long long)size);
    send_all(client, head, (size_t)length);
}

static void send_error(int client, const char *status)
{
    send_head(client, status, "text/plain", strlen(status));
    send_all(client, status, strlen(status));
}

static void send_file(int client, const char *path)
{
    system_file about;
    FILE *file = system_look(path, &about) && about.regular ? system_open(path, "rb") : NULL;
    if (!file) {
        send_error(client, "404 Not Found");
        return;
    }
    send_head(client, "200 OK", content_type(path), about.size);
    char block[16384];
    for (size_t count; (count = fread(block, 1, sizeof block, file)) > 0;) send_all(client, block, count);
    fclose(file);
}

/* Read until the head is complete, a timeout occurs or the head is too long. */
static bool read_request(int client, char request[REQUEST_LIMIT])
{
    size_t length = 0;

    /* until the empty line that ends the head */
    while (length + 1 < REQUEST_LIMIT) {
        struct pollfd wait = {client, POLLIN, 0};
        if (poll(&wait, 1, PATIENCE_MS) <= 0) return false;
        ssize_t count = recv(client, request + length, REQUEST_LIMIT - 1 - length, 0);
        if (count <= 0) return false;
        length += (size_t)count;

        request[length] = 0;
        if (strstr(request, "\r\n\r\n")) return true;
    }
    return false;
}

/* Whether the Host header names this machine; pages of other sites cannot set it. */
static bool host_is_own(const char *request, int port)
{
    static const char *const names[] = {"127.0.0.1", "localhost"};
    for (const char *line = strstr(request, "\r\n"); line; line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line, "\r\nHost: ", 8) != 0) continue;
        for (int i = 0; i < CLI_COUNT(names); i++) {
            char own[64];
            int length = snprintf(own, sizeof own, "%s:%d\r\n", names[i], port);
            if (strncmp(line + 8, own, (size_t)length) == 0) return true;
        }
    }
    return false;
}

static void answer(const studio *s, int client)
{
    char request[REQUEST_LIMIT], path[REQUEST_LIMIT + 1100];
    if (!read_request(client, request)) return;

    /* the path without its question, nothing above the folder */
    char *end = strncmp(request, "GET /", 5) == 0 ? strpbrk(request + 5, " ?") : NULL;
    if (!end || !host_is_own(request, s->port)) {
        send_error(client, end ? "403 Forbidden" : "405 Method Not Allowed");
        return;
    }
    *end = 0;

    const char *name = request + 5;
    if (strstr(name, "..") || strchr(name, '%') || strchr(name, '\\')) {
        if (!(s->character && strncmp(name, "open/", 5) == 0)) {
            send_error(client, "404 Not Found");
            return;
        }
    }

    /* the character that was given, under any name */
    if (s->character && strncmp(name, "open/", 5) == 0) {
        send_file(client, s->character);
        return;
    }

    /* a file of the page */
    snprintf(path, sizeof path, "%s/%s", s->folder, *name ? name : "index.html");
    send_file(client, path);
}

static bool listen_at(studio *s, int port)
{
    if (s->socket >= 0) close(s->socket);
    s->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (s->socket < 0) return false;

    /* loopback only */
    int yes = 1;
    setsockopt(s->socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);

    socklen_t size = sizeof address;
    if (bind(s->socket, (struct sockaddr *)&address, size) != 0 || listen(s->socket, 32) != 0 ||
        getsockname(s->socket, (struct sockaddr *)&address, &size) != 0)
        return false;

    s->port = ntohs(address.sin_port);
    return true;
}

/*
 * The default port is fixed because a browser keeps what a page stores per port. Another `cutis studio` may have it:
 * then any free port does.
 */
static bool listen_here(studio *s, const cli_arguments *arguments)
{
    if (listen_at(s, cli_integer(arguments, "port"))) return true;
    return errno == EADDRINUSE && !cli_given(arguments, "port") && listen_at(s, 0);
}

/* Where the built page is: beside the installed program, or in the build folder. */
static bool find_page(studio *s)
{
    char program[900], index[1100];
    system_file about;
    const char *const places[] = {"../share/cutis/studio", "../../studio"};

    if (!system_program(program, sizeof program)) return false;
    char *slash = strrchr(program, '/');
    if (slash) *slash = 0;

    /* where it is installed, then in the build folder */
    for (int i = 0; i < CLI_COUNT(places); i++) {
        snprintf(s->folder, sizeof s->folder, "%s/%s", program, places[i]);
        snprintf(index, sizeof index, "%s/index.html", s->folder);
        if (system_look(index, &about) && about.regular) return true;
    }
    return false;
}

static void open_browser(const char *url)
{
    static const char *const programs[] = {"xdg-open", "open"};
    for (int i = 0; i < CLI_COUNT(programs); i++) {
        process started;
        char *words[] = {(char *)programs[i], (char *)url, NULL};
        if (process_start(&started, words, NULL, NULL)) return;
    }
}

/* The end of the page's address that opens what was given. */
static void question(const studio *s, const char *given, char text[512])
{
    *text = 0;
    if (!given) return;
    if (!s->character) {
        snprintf(text, 512, "?zoo=%s", given);
        return;
    }

    /* the file's name, as part of a URL */
    const char *slash = strrchr(given, '/');
    size_t length = (size_t)snprintf(text, 512, "?open=open/");
    for (const char *at = slash ? slash + 1 : given; *at && length < 500; at++) {
        bool plain = strchr("-._", *at) || (*at >= '0' && *at <= '9') || (*at >= 'a' && *at <= 'z') ||
                     (*at >= 'A' && *at <= 'Z');
        length += (size_t)snprintf(text + length, 512 - length, plain ? "%c" : "%%%02X", (unsigned char)*at);
    }
}

static int run(const cli_arguments *arguments)
{
    const char *given = arguments->positional_count ? arguments->positionals[0] : NULL;
    studio s = {.socket = -1};
    system_file about;

    /* the character, the page, the port */
    if (given && !cli_is_built_in(given)) {
        if (!system_look(given, &about) || !about.regular) return cli_error("there is no file '%s'", given);
        s.character = given;
    }

    if (!find_page(&s)) return cli_error("the page is not built; run 'make studio', then 'make install'");
    if (!listen_here(&s, arguments)) {
        char text[128];
        int status = cli_error("cannot listen on 127.0.0.1: %s", system_error_text(errno, text));
        if (s.socket >= 0) close(s.socket);
        return status;
    }

    char url[600], end[512];
    question(&s, given, end);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/%s", s.port, end);
    bool quiet = cli_flag(arguments, "quiet");

    printf("%s\n%s", url, quiet ? "" : "press Ctrl-C to stop\n");
    fflush(stdout);
    if (!quiet) open_browser(url);

    while (!cli_interrupted()) {
        struct pollfd wait = {s.socket, POLLIN, 0};
        if (poll(&wait, 1, WAIT_MS) <= 0) continue;
        int client = accept(s.socket, NULL, NULL);
        if (client < 0) continue;
        answer(&s, client);
        close(client);
    }

    close(s.socket);
    return CLI_OK;
}

#endif

static const cli_option options[] = {
    {.name = "port",
     .kind = CLI_INTEGER,
     .value = "N",
     .help = "port of the server; 0: any free port; so is the default while it is taken",
     .fallback = "7414",
     .min = 0,
     .max = 65535},
};

const cli_command cmd_studio = {
    .name = "studio",
    .usage = "[FILE|NAME] [--port N]",
    .summary = "open the page to try, tune and bake a character in the browser",
    .description =
        "Serves the page on 127.0.0.1 until Ctrl-C, and opens it in the browser; with --quiet it only prints the "
        "address. The library runs in the page; no data leaves this machine.",
    .examples = "cutis studio hero.glb\ncutis studio man",
    .options = options,
    .option_count = CLI_COUNT(options),
    .positional_max = 1,
    .run = run,
};
