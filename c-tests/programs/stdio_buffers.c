/* stdio allocates its buffers itself: 4096 bytes for a file (BUFSIZ says 8192, glibc asks the file), 552 or so for the
 * FILE. fclose gives both back. The report must show the chains of fopen and of the buffer below main, kept 0 but for
 * the buffer of stdout, which lives for ever. */
#include <stdio.h>

int main(void) {
    char word[16];
    FILE *file = fopen("note.txt", "w");
    if (!file || fprintf(file, "hello\n") != 6 || fclose(file) != 0) return 1;
    file = fopen("note.txt", "r");
    if (!file || fscanf(file, "%15s", word) != 1 || fclose(file) != 0) return 2;
    printf("%s\n", word);
    return 0;
}
