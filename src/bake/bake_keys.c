/* bake_keys.c: values that change over time in a bake. */
#include <string.h>

#include "bake/bake_private.h"

double cutis_bake_key_value(const cutis_bake_key *keys, int key_count, const char *name, double time, double otherwise)
{
    const cutis_bake_key *before = NULL;
    for (int i = 0; i < key_count; i++) {
        const cutis_bake_key *key = &keys[i];
        if (strcmp(key->name, name) != 0) continue;
        if (key->time > time) {
            if (!before) return key->value;
            double part = (time - before->time) / (key->time - before->time);
            return before->value + part * (key->value - before->value);
        }
        before = key;
    }
    return before ? before->value : otherwise;
}

/* The key of the same name before the i-th; NULL: it is the first. */
static const cutis_bake_key *key_before(const cutis_bake_def *def, int i)
{
    for (int k = i - 1; k >= 0; k--)
        if (strcmp(def->keys[k].name, def->keys[i].name) == 0) return &def->keys[k];
    return NULL;
}

cutis_result bake_keys_check(const bake *b)
{
    const cutis_bake_def *def = b->def;
    for (int i = 0; i < def->key_count; i++) {
        const cutis_bake_key *key = &def->keys[i], *before = key_before(def, i);
        if (strcmp(key->name, "amount") != 0)
            return error_set(b->error, CUTIS_ERROR_ARGUMENT, "there are no keys of '%s'; only of amount", key->name);
        if (!(key->value >= 0 && key->value <= CUTIS_MAX_AMOUNT))
            return error_set(b->error, CUTIS_ERROR_ARGUMENT, "an amount of %.9g is out of range: 0 to %g", key->value,
                             CUTIS_MAX_AMOUNT);
        if (!(fabs(key->time) < 1e9) || (before && !(key->time > before->time)))
            return error_set(b->error, CUTIS_ERROR_ARGUMENT, "the key of '%s' at %.9g s is not behind the one before",
                             key->name, key->time);
    }

    /* a loop ends as it begins */
    for (int i = 0; def->loop && i < def->key_count; i++) {
        const char *name = def->keys[i].name;
        double first = cutis_bake_key_value(def->keys, def->key_count, name, b->result->start, 0);
        double last = cutis_bake_key_value(def->keys, def->key_count, name, b->result->start + b->period, 0);
        if (first != last)
            return error_set(
                b->error, CUTIS_ERROR_ARGUMENT,
                "the keys of a loop must be equal at both ends: '%s' is %.9g at its start and %.9g at its end", name,
                first, last);
    }

    return CUTIS_OK;
}

float bake_amount(const bake *b, double time)
{
    return (float)cutis_bake_key_value(b->def->keys, b->def->key_count, "amount", time, 1);
}
