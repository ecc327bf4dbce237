/* A program that is linked with a library whose constructor allocates (plugin.c, as `first`), so that the dynamic loader
 * runs it before the program's own code. The report must show 210 bytes kept below first_loaded, 220 below plugin_entry,
 * 230 below first_unloaded, and no chain that is lost at the loader's own start. */
#include "check.h"

int plugin_entry(int n);

int main(void) {
    say("called %d", plugin_entry(1));
    return 0;
}
