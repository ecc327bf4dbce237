/* A shop that takes orders, some of them without a price, and adds up what it is to get. It leaks: see TUTORIAL.md. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct order {
    char *name;
    double price;
    struct order *next;
};

/* Reads "name,price"; NULL if there is no price. */
static struct order *read_order(const char *line) {
    struct order *order = malloc(sizeof *order);
    const char *comma = strchr(line, ',');
    order->name = strdup(line);
    if (comma == NULL)
        return NULL;
    order->name[comma - line] = '\0';
    order->price = atof(comma + 1);
    return order;
}

static void free_orders(struct order *orders) {
    while (orders != NULL) {
        struct order *next = orders->next;
        free(orders->name);
        free(orders);
        orders = next;
    }
}

int main(int argc, char **argv) {
    int count = argc > 1 ? atoi(argv[1]) : 1000;
    struct order *orders = NULL;
    double total = 0;
    for (int i = 0; i < count; i++) {
        struct order *order = read_order(i % 4 == 0 ? "green tea" : "green tea,2.50");
        if (order == NULL)
            continue;
        order->next = orders;
        orders = order;
        total += order->price;
    }
    printf("%.2f\n", total);
    free_orders(orders);
    return 0;
}
