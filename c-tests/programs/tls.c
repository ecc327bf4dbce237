/* The library of static_tls.c. */
static __thread int sum __attribute__((tls_model("initial-exec")));
static __thread char room[1200] __attribute__((tls_model("initial-exec"), aligned(64)));

int use(int n) {
    room[0] = room[1199] = (char)n;
    return sum += n;
}
