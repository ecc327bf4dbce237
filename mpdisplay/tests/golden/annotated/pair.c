/* A source for the annotated reports; nobody compiles it. */
#include <stdlib.h>

struct pair {
    struct pair *left, *right;
};

/* A pair, or a tree of them. */
struct pair *make_pair(int depth) {
	struct pair *made = malloc(sizeof *made);
	made->left = depth > 0 ? make_pair(depth - 1) : NULL;
	made->right = NULL;
	return made;
}

void consume(struct pair *made);



int main(void) {
    consume(make_pair(0));
    consume(make_pair(1));
    consume(make_pair(2));
    gone();
    return 0;
}
