/* The middle of a chain, which no_unwind_main.c is the rest of: compiled without unwind information, with frame pointers
 * or without. */
void seen_leaf(void);
int blind_middle(int n);

int blind_middle(int n) {
    volatile int local = n;
    seen_leaf();
    return local + 1;
}
