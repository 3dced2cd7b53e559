# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""What is computed in every round, as functions over arrays: the compiled version of `plain`."""

from cpython.buffer cimport PyBUF_ANY_CONTIGUOUS, PyBUF_WRITABLE, Py_buffer, PyBuffer_Release, PyObject_GetBuffer
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_AsDouble, PyLong_CheckExact
from libc.math cimport INFINITY, NAN, cos, exp, fabs, floor, isnan, lgamma, log
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc
from scipy.linalg.cython_blas cimport dsymv, dsyr

import numpy as np

from ..values import LARGEST, number
from .plain import SPELL_PRIOR, Row

cdef double _LARGEST = LARGEST
cdef double _SPELL_PRIOR = SPELL_PRIOR
cdef object _float64 = np.float64
cdef object _empty = np.empty
cdef object _bool = np.dtype(bool)


cdef void* _bytes(object array, Py_ssize_t n, int flags) except NULL:
    """Where an array has its n bytes. The array must outlive the use of it."""
    cdef Py_buffer view
    PyObject_GetBuffer(array, &view, PyBUF_ANY_CONTIGUOUS | flags)
    cdef void* start = view.buf
    cdef Py_ssize_t length = view.len
    PyBuffer_Release(&view)
    if length != n:
        raise ValueError(f"an array of {n} bytes was expected, not one of {length}")
    return start


cdef inline double* _numbers(object array, Py_ssize_t n) except NULL:
    return <double*>_bytes(array, n * sizeof(double), 0)


cdef inline double* _state(object array, Py_ssize_t n) except NULL:
    return <double*>_bytes(array, n * sizeof(double), PyBUF_WRITABLE)


cdef inline int64_t* _integers(object array, Py_ssize_t n) except NULL:
    return <int64_t*>_bytes(array, n * sizeof(int64_t), PyBUF_WRITABLE)


cdef inline uint8_t* _flags(object array, Py_ssize_t n) except NULL:
    return <uint8_t*>_bytes(array, n, PyBUF_WRITABLE)


# A dict becomes a row.


cdef double _number(object key, object value) except? -1:
    cdef double result
    if PyFloat_CheckExact(value) or type(value) is _float64:
        result = PyFloat_AS_DOUBLE(value)
        # Not an infinity, which is refused, nor a number that is cut.
        if -_LARGEST <= result <= _LARGEST or isnan(result):
            return result
    elif PyLong_CheckExact(value) and -_LARGEST <= value <= _LARGEST:
        return PyLong_AsDouble(value)
    return number(key, value)


def read(x, list keys, dict slots):
    cdef Py_ssize_t d = len(keys), i, expected = 0
    cdef double result
    values, present = _empty(d), _empty(d, _bool)
    cdef double* v = _state(values, d)
    cdef uint8_t* p = _flags(present, d)
    cdef dict unknown = {}
    for i in range(d):
        v[i] = NAN
        p[i] = False
    for key, value in (<dict>x).items() if type(x) is dict else x.items():
        result = _number(key, value)
        # Most samples have their keys in the order of the slots.
        if expected < d and keys[expected] is key:
            i = expected
        else:
            slot = slots.get(key)
            if slot is None:
                if not isnan(result):
                    unknown[key] = result
                continue
            i = slot
        expected = i + 1
        v[i] = result
        p[i] = not isnan(result)
    return Row(values, present, unknown)


# Has a key vanished?


cdef inline double _log_beta(double a, double b) noexcept nogil:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def account(
    present, int64_t round_, double limit, before, gone, vanished_at, born, absences, gaps, since, due
):
    cdef Py_ssize_t d = len(present), i
    cdef uint8_t* here = <uint8_t*>_bytes(present, d, 0)
    cdef uint8_t* there = _flags(before, d)
    cdef uint8_t* is_gone = _flags(gone, d)
    cdef int64_t* lost_at = _integers(vanished_at, d)
    cdef int64_t* birth = _integers(born, d)
    cdef int64_t* away = _integers(absences, d)
    cdef int64_t* n_gaps = _integers(gaps, d)
    cdef int64_t* start = _integers(since, d)
    cdef double* judge_at = _state(due, d)
    cdef double m, k, n, gap, share, spell, others, at_random, in_spells, first, second
    cdef list returned = [], vanished = []
    for i in range(d):
        if here[i]:
            if not there[i]:
                if is_gone[i]:
                    returned.append(i)
                away[i] += round_ - start[i]
                n_gaps[i] += 1
                start[i] = lost_at[i] = -1
                judge_at[i] = INFINITY
                is_gone[i] = False
                there[i] = True
            continue
        if there[i]:
            start[i] = round_
            judge_at[i] = round_ + floor(limit / log((away[i] + 1.0) / (round_ - birth[i] + 2.0)))
            there[i] = False
        if judge_at[i] > round_:
            continue
        gap, m, k = round_ + 1 - start[i], away[i], n_gaps[i]
        n = start[i] - birth[i] - m
        share = (m + 1) / (n + m + 2)
        spell, others = _SPELL_PRIOR * share + m - k, _SPELL_PRIOR * (1 - share) + k
        at_random = _log_beta(n + 1, m + 1 + gap) - _log_beta(n + 1, m + 1)
        in_spells = log(share) + _log_beta(spell + gap - 1, others) - _log_beta(spell, others)
        if max(at_random, in_spells) < limit:
            judge_at[i] = INFINITY
            lost_at[i] = round_
            is_gone[i] = True
            vanished.append(i)
        else:
            first = floor((limit - at_random) / log((m + 1 + gap) / (n + m + 2 + gap)))
            second = floor((limit - in_spells) / log((spell + gap - 1) / (spell + others + gap - 1)))
            judge_at[i] = round_ + 1 + max(first, second)
    return returned, vanished
