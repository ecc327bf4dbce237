/* The paper's figure 1: a producer makes 10 000 widgets of 204 bytes, red and blue by the flip of a coin; the consumer
 * frees the blue ones and forgets the red ones. Our coin is fair but for this: exactly 5019 of its flips are red.
 *
 * The report must show the numbers of the paper's figures 2 to 5: 5019 objects (1 023 876 bytes) kept, all of them by
 * main > make_red_widget > make_widget; the type `widget` in the bin of 204 bytes; 4981 frees. */
#include <stdlib.h>

enum color { RED, BLUE };

typedef struct {
    enum color c;
    int data[50];
} widget;

#define WSIZE sizeof(widget)
#define NUM_WIDGETS 10000
#define NUM_RED 5019

/* Draws without putting back from NUM_WIDGETS lots of which NUM_RED are red; 1 for blue. */
static int random_flip(void) {
    static unsigned state = 1988, lots = NUM_WIDGETS, red = NUM_RED;
    state = state * 1103515245u + 12345u;
    int drew_red = (state >> 8) % lots < red;
    lots--;
    red -= (unsigned)drew_red;
    return !drew_red;
}

widget *make_widget(void) {
    widget *w;

    w = (widget *)malloc(WSIZE);
    return w;
}

widget *make_blue_widget(void) {
    widget *w;

    w = make_widget();
    w->c = BLUE;
    return w;
}

widget *make_red_widget(void) {
    widget *w;

    w = make_widget();
    w->c = RED;
    return w;
}

void consume_widget(widget *w) {
    if (w->c == BLUE) {
        /* record blue widget */
        free(w);
    } else {
        /* record red widget */
    }
}

int main(void) {
    int i;
    widget *wqueue[NUM_WIDGETS];

    for (i = 0; i < NUM_WIDGETS; i++)
        if (random_flip())
            wqueue[i] = make_blue_widget();
        else
            wqueue[i] = make_red_widget();

    for (i = 0; i < NUM_WIDGETS; i++)
        consume_widget(wqueue[i]);

    return 0;
}
