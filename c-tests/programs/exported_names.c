/* A program without debug information and symbol table, whose functions are exported: the dynamic symbols are there to
 * be used. Built with -rdynamic and stripped. The report must show main > exported_middle > exported_leaf, 3 of 131. */
#include "check.h"

FRAME void exported_leaf(void) { keep(malloc(131)); }

FRAME void exported_middle(void) {
    for (int i = 0; i < 3; i++) exported_leaf();
}

int main(void) {
    exported_middle();
    return 0;
}
