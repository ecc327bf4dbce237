/* Character conversions are libraries that the C library loads and unloads by itself; twins of much the same code follow
 * each other at the same place. Each conversion allocates as it begins: the report must name the right library. */
#include <errno.h>
#include <iconv.h>
#include "check.h"

FRAME static void convert(const char *to) {
    iconv_t conversion = iconv_open(to, "UTF-8");
    CHECK(conversion != (iconv_t)-1);
    char in[] = "some text", out[200], *from = in, *into = out;
    size_t left = sizeof in, room = sizeof out;
    CHECK(iconv(conversion, &from, &left, &into, &room) != (size_t)-1);
    CHECK(iconv_close(conversion) == 0);
}

int main(void) {
    const char *names[] = {"UTF-16", "UTF-32", "UTF-16", "UTF-32", "ISO-2022-JP", "ISO-2022-KR", "UTF-7", "BIG5"};
    for (int round = 0; round < 20; round++)
        for (unsigned i = 0; i < sizeof names / sizeof *names; i++) convert(names[i]);
    CHECK(iconv_open("no such", "UTF-8") == (iconv_t)-1 && errno == EINVAL);
    say("converted");
    return 0;
}
