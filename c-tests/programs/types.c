/* Objects of user types of several kinds, each of a size of its own. The report must name, by size: 24 struct pair and
 * its typedef pair_t; 40 struct inner_only and union either; 56 the typedef of a struct without a name; no enum and no
 * base type (8 long). */
#include <stdlib.h>

struct pair {
    long first, second, third;
};
typedef struct pair pair_t;

union either {
    char bytes[40];
    long numbers[5];
};

struct inner_only {
    long numbers[5];
};

typedef struct {
    int numbers[14];
} fourteen;

enum eight { EIGHT };
typedef long long_alias;

void *volatile objects[8];

int main(void) {
    pair_t *pair = malloc(sizeof *pair);
    struct pair *same = malloc(sizeof *same);
    union either *either = malloc(sizeof *either);
    struct inner_only *inner = malloc(sizeof *inner);
    fourteen *numbers = malloc(sizeof *numbers);
    long_alias *one = malloc(sizeof *one);
    enum eight *eight = malloc(sizeof *eight);
    void *all[] = {pair, same, either, inner, numbers, one, eight};
    for (int i = 0; i < 7; i++) objects[i] = all[i];
    return 0;
}
