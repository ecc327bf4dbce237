/* A library for dlopen.c: it keeps an object when it is loaded (of 210 bytes), one at each call (of 220), and one when it
 * is unloaded (of 230). Built twice, with PLUGIN_NAME first and second, as different libraries. */
#include <stdlib.h>

#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define OWN(name) JOIN(PLUGIN_NAME, name)
#define FRAME __attribute__((noipa))

void *plugin_objects[64];
int plugin_count;

FRAME void OWN(_keep)(size_t size) { plugin_objects[plugin_count++] = malloc(size); }
__attribute__((constructor)) FRAME static void OWN(_loaded)(void) { OWN(_keep)(210); }
__attribute__((destructor)) FRAME static void OWN(_unloaded)(void) { OWN(_keep)(230); }

FRAME int plugin_entry(int n) {
    OWN(_keep)(220);
    return n + 1;
}
