/* SPDX-License-Identifier: BSD-3-Clause */
/* Primes by a pipeline: process 0 makes numbers, each further one strikes the multiples of its share of small primes.
     sieve good    blocks of numbers go down the pipeline, a tag ends it
     sieve bad     a number a message, and a barrier after every BARRIER_EVERY of them
   A limit may follow: sieve good LIMIT. */
#include "truth.h"

enum { TAG_NUMBERS = 1, TAG_END = 2, BLOCK = 512, BARRIER_EVERY = 256, PRIMES = 400 };
static int primes[PRIMES], prime_count, limit, good, found;

static void small_primes(void)
{
    for (int n = 2; n <= limit / n; n++) {
        int i = 0;
        while (i < prime_count && n % primes[i] != 0)
            i++;
        if (i == prime_count && prime_count < PRIMES)
            primes[prime_count++] = n;
    }
}

/* True if none of this process's primes divides the number. */
static int survives(int number)
{
    for (int i = truth.rank - 1; i < prime_count; i += truth.size - 1)
        if (number % primes[i] == 0 && number != primes[i])
            return 0;
    return 1;
}

static void pass_on(int *numbers, int count, int tag)
{
    if (truth.rank + 1 == truth.size) {
        found += count;
        return;
    }
    MPI_Send(numbers, count, MPI_INT, truth.rank + 1, tag, MPI_COMM_WORLD);
    truth_sent(truth.rank + 1, count * (long)sizeof(int));
}

static void make(void)
{
    int numbers[BLOCK], count = 0;
    for (int n = 2; n <= limit; n++) {
        numbers[count++] = n;
        if (count == (good ? BLOCK : 1) || n == limit) {
            pass_on(numbers, count, TAG_NUMBERS);
            count = 0;
        }
        if (!good && (n - 1) % BARRIER_EVERY == 0)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    pass_on(numbers, 0, TAG_END);
}

static void strike(void)
{
    int numbers[BLOCK], count, kept = 0, seen = 0;
    MPI_Status status;
    for (;;) {
        MPI_Recv(numbers, BLOCK, MPI_INT, truth.rank - 1, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        truth_received(truth.rank - 1, count * (long)sizeof(int));
        if (status.MPI_TAG == TAG_END)
            break;
        kept = 0;
        for (int i = 0; i < count; i++)
            if (survives(numbers[i]))
                numbers[kept++] = numbers[i];
        seen++;
        if (kept > 0 || !good) /* in the bad program all see every turn, if only an empty one */
            pass_on(numbers, kept, TAG_NUMBERS);
        if (!good && seen % BARRIER_EVERY == 0)
            MPI_Barrier(MPI_COMM_WORLD);
    }
    pass_on(numbers, 0, TAG_END);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    truth_begin();
    good = argc < 2 || strcmp(argv[1], "bad") != 0;
    limit = argc > 2 ? atoi(argv[2]) : good ? 100000 : 5000;
    small_primes();
    if (truth.rank == 0)
        make();
    else
        strike();
    if (truth.rank + 1 == truth.size)
        printf("%d primes up to %d\n", found, limit);
    truth_print();
    MPI_Finalize();
    return 0;
}
