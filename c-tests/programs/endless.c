/* A program that never ends, for the harness's own test of its time limit. */
int main(void) {
    for (volatile int i = 0;; i++) {
    }
}
