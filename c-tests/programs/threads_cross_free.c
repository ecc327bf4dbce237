/* One thread makes 40 000 objects of 72 bytes, another frees every second of them and a third reallocates and frees
 * the others; 40 come through to the end. The report must show produce with 40 000 allocations of which 40 are kept,
 * and enlarge with all of its 19 960 freed. */
#include <pthread.h>
#include "check.h"

enum { OBJECTS = 40000, ROOM = 64, KEEP_EACH = 1000 };

struct queue {
    void *slots[ROOM];
    unsigned head, tail;
    pthread_mutex_t lock;
    pthread_cond_t changed;
};

static struct queue to_free = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
static struct queue to_enlarge = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static void put(struct queue *q, void *object) {
    pthread_mutex_lock(&q->lock);
    while (q->head - q->tail == ROOM) pthread_cond_wait(&q->changed, &q->lock);
    q->slots[q->head++ % ROOM] = object;
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
}

static void *take(struct queue *q) {
    pthread_mutex_lock(&q->lock);
    while (q->head == q->tail) pthread_cond_wait(&q->changed, &q->lock);
    void *object = q->slots[q->tail++ % ROOM];
    pthread_cond_broadcast(&q->changed);
    pthread_mutex_unlock(&q->lock);
    return object;
}

FRAME void *produce(void) { return malloc(72); }
FRAME void *enlarge(void *object) { return realloc(object, 720); }

FRAME void *freer(void *unused) {
    for (void *object; (object = take(&to_free));) free(object);
    return unused;
}

FRAME void *enlarger(void *unused) {
    for (void *object; (object = take(&to_enlarge));) free(enlarge(object));
    return unused;
}

int main(void) {
    pthread_t threads[2];
    pthread_create(&threads[0], 0, freer, 0);
    pthread_create(&threads[1], 0, enlarger, 0);
    for (int i = 0; i < OBJECTS; i++) {
        void *object = produce();
        if (i % KEEP_EACH == 1) keep(object); /* odd ones: 40 of the enlarger's */
        else put(i % 2 ? &to_enlarge : &to_free, object);
    }
    put(&to_free, 0);
    put(&to_enlarge, 0);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], 0);
    say("kept %d", kept_count);
    return 0;
}
