# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""What is computed in every round, as functions over arrays: the compiled version of `plain`."""

from cpython.buffer cimport (
    PyBUF_C_CONTIGUOUS,
    PyBUF_F_CONTIGUOUS,
    PyBUF_FORMAT,
    PyBUF_WRITABLE,
    Py_buffer,
    PyBuffer_Release,
    PyObject_GetBuffer,
)
from cpython.float cimport PyFloat_AS_DOUBLE, PyFloat_CheckExact
from cpython.long cimport PyLong_AsDouble, PyLong_CheckExact
from cpython.tuple cimport PyTuple_GET_ITEM
from libc.math cimport INFINITY, NAN, cos, exp, fabs, floor, frexp, isnan, lgamma, log, sqrt
from libc.stdint cimport int64_t, uint8_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcmp, memcpy, memset
from scipy.linalg.cython_blas cimport ddot, dgemm, dgemv, dsymv, dsyr, dsyrk, dtrmm, dtrsm, dtrsv
from scipy.linalg.cython_lapack cimport dlauum, dormtr, dpotrf, dpotrs, dsytrd, dtrtri

import numpy as np

from ..values import LARGEST, number
from .forms import LEFT, MOST, SCALE, TRACE, FirstOrder, Fourier, Given, Probabilities, Same
from .plain import AT_REST, BINS, CERTAIN, COLLAPSED, COMMON, CONSTANT, FARTHEST, HALF_WAY, KEPT, KEPT_OF_MERITS
from .plain import KEPT_OF_SCORES, LARGE, LEAST_NOISE, PENALTIES
from .plain import KEPT_OF_TREND, LEAST, MOST_EVIDENCE, ROUNDING, SAME, SCORE, SETTLED, SMALLEST, SPELL_PRIOR, WINSOR
from .plain import complete as plain_complete
from .plain import expect as plain_expect
from .plain import inverse as plain_inverse
from .plain import regress as plain_regress

cdef double _LARGEST = LARGEST
cdef double _SPELL_PRIOR = SPELL_PRIOR
cdef double _LARGE = LARGE
cdef double _CERTAIN = CERTAIN
cdef double _SAME = SAME
cdef int _BINS = BINS
cdef int _SMALLEST = SMALLEST
cdef double _LEAST = LEAST
cdef double _KEPT = KEPT
cdef double _KEPT_OF_SCORES = KEPT_OF_SCORES
cdef double _KEPT_OF_MERITS = KEPT_OF_MERITS
cdef double _KEPT_OF_TREND = KEPT_OF_TREND
cdef double _FARTHEST = FARTHEST
cdef double _HALF_WAY = HALF_WAY
cdef double _MOST_EVIDENCE = MOST_EVIDENCE
cdef double _SCORE = SCORE
cdef double _WINSOR = WINSOR
cdef double _SETTLED = SETTLED
cdef double _COLLAPSED = COLLAPSED
cdef double _CONSTANT = CONSTANT
cdef double _ROUNDING = ROUNDING
cdef double _AT_REST = AT_REST
cdef double _COMMON = COMMON
cdef double _LEAST_NOISE = LEAST_NOISE
#: A triangle of so few rows is inverted as a whole.
cdef int _FEW_ROWS = 24
cdef object _grid = np.ascontiguousarray(PENALTIES, dtype=float)
cdef int _SCALE = SCALE
cdef int _LEFT = LEFT
cdef int _TRACE = TRACE
cdef int _MOST = MOST
cdef object _float64 = np.float64
cdef object _empty = np.empty


# Where arrays have their numbers. An array must outlive the use of its pointer; none is written but where it says so.

cdef extern from *:
    """
    /* How every array of NumPy begins, since version 1.0. */
    typedef struct {
        PyObject_HEAD
        char *start;
        int ndim;
        Py_ssize_t *shape;
        Py_ssize_t *strides;
        PyObject *base;
        PyObject *dtype;
        int flags;
    } Array;
    """
    ctypedef struct Array:
        char* start
        int ndim
        Py_ssize_t* shape
        void* dtype
        int flags

cdef enum:
    # Flags of an array: in the order of C, in that of Fortran, and one that may be written.
    _C = 0x1
    _FORTRAN = 0x2
    _WRITEABLE = 0x400

cdef object _ndarray = np.ndarray
cdef object _doubles = np.dtype(np.float64)
cdef object _int64s = np.dtype(np.int64)
cdef object _bools = np.dtype(bool)


cdef inline Array* _ordinary(object array, int flags, object dtype) noexcept:
    """An array of such entries with these flags, or NULL: the buffer protocol knows any, and takes ten times as long."""
    if type(array) is not _ndarray:
        return NULL
    cdef Array* found = <Array*><void*>array
    if found.flags & flags != flags:
        return NULL
    # An array from a pickle has a dtype of its own.
    return found if found.dtype == <void*>dtype or <object>found.dtype == dtype else NULL


cdef bint _begins_as_expected(object array) except -1:
    """Whether a writeable array of doubles, in the order of C, begins as `Array` says."""
    cdef Array* found = <Array*><void*>array
    cdef Py_ssize_t i
    cdef bint as_expected
    cdef Py_buffer view
    # Nothing is known yet of where this leads, so it is compared alone.
    if found.dtype != <void*>array.dtype or found.flags & (_C | _FORTRAN | _WRITEABLE) != _C | _WRITEABLE:
        return False
    PyObject_GetBuffer(array, &view, PyBUF_C_CONTIGUOUS)
    as_expected = found.start == <char*>view.buf and found.ndim == view.ndim
    if as_expected:
        for i in range(view.ndim):
            as_expected = as_expected and found.shape[i] == view.shape[i]
    PyBuffer_Release(&view)
    return as_expected


if not _begins_as_expected(np.zeros((2, 3))):
    # Then no array is ordinary.
    _ndarray = None


cdef int _view(object array, Py_buffer* view, int flags, object dtype) except -1:
    """A view of any array of such entries, to be released."""
    PyObject_GetBuffer(array, view, PyBUF_FORMAT | flags)
    cdef bytes entries = view.format
    if entries != dtype.char.encode():
        PyBuffer_Release(view)
        raise ValueError(f"an array of {dtype} was expected, not one of {entries.decode()!r}")
    return 0


cdef void* _start_of_any(object array, Py_ssize_t n, int flags, object dtype) except NULL:
    """Where the n entries of any array begin."""
    cdef Py_buffer view
    _view(array, &view, PyBUF_C_CONTIGUOUS | flags, dtype)
    cdef void* start = view.buf
    cdef Py_ssize_t length = view.len // view.itemsize
    PyBuffer_Release(&view)
    if length != n:
        raise ValueError(f"an array of {n} entries was expected, not one of {length}")
    return start


cdef inline void* _start(object array, Py_ssize_t n, int flags, object dtype) except NULL:
    """Where the n entries of an array begin."""
    cdef Array* found = _ordinary(array, flags, dtype)
    cdef Py_ssize_t length = 1
    cdef int i
    if found != NULL:
        for i in range(found.ndim):
            length *= found.shape[i]
        if length == n:
            return found.start
    return _start_of_any(array, n, PyBUF_WRITABLE if flags & _WRITEABLE else 0, dtype)


cdef inline double* _numbers(object array, Py_ssize_t n) except NULL:
    return <double*>_start(array, n, _C, _doubles)


cdef inline double* _state(object array, Py_ssize_t n) except NULL:
    return <double*>_start(array, n, _C | _WRITEABLE, _doubles)


cdef inline int64_t* _integers(object array, Py_ssize_t n) except NULL:
    return <int64_t*>_start(array, n, _C | _WRITEABLE, _int64s)


cdef inline uint8_t* _flags(object array, Py_ssize_t n) except NULL:
    return <uint8_t*>_start(array, n, _C | _WRITEABLE, _bools)


cdef double* _shaped(object array, int ndim, Py_ssize_t* shape, bint writes=False) except NULL:
    """The numbers of an array of so many dimensions, and its shape."""
    cdef Array* found = _ordinary(array, _C | _WRITEABLE if writes else _C, _doubles)
    cdef Py_buffer view
    cdef int i
    if found != NULL and found.ndim == ndim:
        for i in range(ndim):
            shape[i] = found.shape[i]
        return <double*>found.start
    _view(array, &view, PyBUF_C_CONTIGUOUS | (PyBUF_WRITABLE if writes else 0), _doubles)
    cdef double* start = <double*>view.buf
    cdef bint fits = view.ndim == ndim
    if fits:
        for i in range(ndim):
            shape[i] = view.shape[i]
    PyBuffer_Release(&view)
    if not fits:
        raise ValueError(f"an array of numbers with {ndim} dimensions was expected")
    return start


cdef object _floats(object numbers):
    """Numbers from outside, in the form that pointers need."""
    cdef Array* found = _ordinary(numbers, _C, _doubles)
    # A number alone becomes an array of one.
    return numbers if found != NULL and found.ndim > 0 else np.ascontiguousarray(numbers, dtype=_float64)


cdef inline object _of(object form, Py_ssize_t i):
    """An entry of a form, which is a named tuple."""
    return <object>PyTuple_GET_ITEM(form, i)


cdef double* _matrix(object array, int d, bint* full) except NULL:
    """A symmetric matrix in the order of Fortran, or its diagonal."""
    cdef Array* found = _ordinary(array, _FORTRAN | _WRITEABLE, _doubles)
    cdef Py_buffer view
    if found != NULL and found.ndim in (1, 2) and found.shape[0] == d and found.shape[found.ndim - 1] == d:
        full[0] = found.ndim == 2
        return <double*>found.start
    _view(array, &view, PyBUF_F_CONTIGUOUS | PyBUF_WRITABLE, _doubles)
    cdef double* start = <double*>view.buf
    full[0] = view.ndim == 2
    cdef bint fits = view.ndim in (1, 2) and view.shape[0] == d
    if full[0]:
        fits = fits and view.shape[1] == d
    PyBuffer_Release(&view)
    if not fits:
        raise ValueError(f"a symmetric matrix for {d} inputs was expected")
    return start


cdef double* _scratch(Py_ssize_t n) except NULL:
    """Room for n numbers, to be freed."""
    cdef double* room = <double*>malloc((n + 1) * sizeof(double))
    if room == NULL:
        raise MemoryError
    return room


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
    values = _empty(d)
    cdef double* v = _state(values, d)
    cdef dict unknown = {}
    for i in range(d):
        v[i] = NAN
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
            if not 0 <= i < d:
                raise ValueError(f"slot {slot} is not among {d}")
        expected = i + 1
        v[i] = result
    return values, unknown


# Has a key vanished?


cdef inline double _log_beta(double a, double b) noexcept nogil:
    return lgamma(a) + lgamma(b) - lgamma(a + b)


def account(
    values, int64_t round_, double limit, before, gone, vanished_at, born, absences, gaps, since, due
):
    cdef Py_ssize_t d = len(values), i
    cdef double* here = _numbers(values, d)
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
        if not isnan(here[i]):
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


# Evidence that values do not fit.


cdef inline double _mixture(double p) noexcept nogil:
    p = min(p, 1.0 - 1e-6)
    cdef double logarithm = log(p)
    return (1.0 - p + p * logarithm) / (p * logarithm * logarithm)


cdef bint _residuals(double* z, double* m, double* k, double* near, int d, double* away, double* u) noexcept nogil:
    """The residuals u of a row, and whether all of them are usual; there is room for d numbers more."""
    cdef int i, one = 1
    cdef double plus = 1.0, none = 0.0
    cdef bint as_usual = True
    for i in range(d):
        away[i] = _clipped(z[i] - m[i], _FARTHEST)
    dsymv("L", &d, &plus, k, &d, away, &one, &none, u, &one)
    for i in range(d):
        u[i] /= sqrt(k[i * <Py_ssize_t>d + i])
        if fabs(u[i]) > near[i]:
            as_usual = False
    return as_usual


def residuals(scaled, row, mean, precision, usual, limits):
    cdef Py_ssize_t d = len(scaled), i, worst = -1
    cdef double* z = _numbers(scaled, d)
    cdef double* x = _numbers(row, d)
    cdef double* m = _numbers(mean, d)
    cdef double* k = _numbers(precision, d * d)
    cdef double* near = _numbers(usual, d)
    cdef double* limit = _numbers(limits, d)
    cdef double most = 0.0
    out = _empty(d)
    cdef double* u = _state(out, d)
    cdef double* room = _scratch(d)
    cdef bint as_usual = _residuals(z, m, k, near, <int>d, room, u)
    free(room)
    for i in range(d):
        if fabs(u[i]) > limit[i] and fabs(u[i]) > most:
            most, worst = fabs(u[i]), i
        if isnan(x[i]):
            u[i] = NAN
    return out, worst, as_usual


def residuals_many(scaled, mean, precision, usual):
    scaled = _floats(scaled)
    cdef Py_ssize_t d = len(mean), n = len(scaled), i
    cdef double* z = _numbers(scaled, n * d)
    cdef double* m = _numbers(mean, d)
    cdef double* k = _numbers(precision, d * d)
    cdef double* near = _numbers(usual, d)
    out = _empty((n, d))
    cdef double* u = _state(out, n * d)
    cdef double* room = _scratch(d)
    for i in range(n):
        if not _residuals(z + i * d, m, k, near, <int>d, room, u + i * d):
            n = i
            break
    free(room)
    return out, n


def judge(residuals, limits, double level, histogram, scores, statistic):
    cdef Py_ssize_t d = len(statistic), n = len(residuals), i, j
    cdef double* u = _numbers(residuals, n * d)
    cdef double* limit = _numbers(limits, d)
    cdef double* counts = _state(histogram, d * _BINS)
    cdef double* moments = _state(scores, 4 * d)
    cdef double* evidence = _state(statistic, d)
    peaks = _empty(d)
    cdef double* peak = _state(peaks, d)
    cdef int* bins = <int*>malloc(max(n, 1) * sizeof(int))
    # By bin: what is below or in it, the logarithm of e, and the factor of the statistic.
    cdef double* tables = <double*>malloc(3 * _BINS * sizeof(double))
    if bins == NULL or tables == NULL:
        free(bins)
        free(tables)
        raise MemoryError()
    cdef double* up_to = tables
    cdef double* log_e = tables + _BINS
    cdef double* gain = tables + 2 * _BINS
    cdef double* own
    cdef double total, rho, tau, size, mantissa, r, most, off, square, product, mean, latest, above
    cdef int exponent, b
    with nogil:
        for j in range(d):
            own = counts + j * _BINS
            total = 0.0
            for b in range(_BINS):
                total += own[b]
                up_to[b] = total
                log_e[b] = NAN
            rho = moments[d + j] / max(moments[j], 1e-9) + 2.0 / sqrt(total + 1.0)
            rho = min(max(rho, 0.0), 0.98)
            tau = (1.0 + rho) / (1.0 - rho)
            r, most = evidence[j], 0.0
            square, product, mean, latest = moments[j], moments[d + j], moments[2 * d + j], moments[3 * d + j]
            for i in range(n):
                size = fabs(u[i * d + j])
                if isnan(size):
                    bins[i] = -1
                    continue
                mantissa = frexp(size, &exponent)
                b = min(max(2 * (exponent - _SMALLEST) + (mantissa >= _HALF_WAY), 1), _BINS - 1) if size > 0.0 else 0
                bins[i] = b
                if total < _LEAST:
                    if size > limit[j]:
                        bins[i] = -1
                    continue
                if isnan(log_e[b]):
                    above = total - up_to[b] + own[b]
                    log_e[b] = log(
                        (_mixture((above + 1.0) / (total + 1.0)) + _mixture((up_to[b] + 1.0) / (total + 1.0))) / 2.0
                    )
                    gain[b] = exp(log_e[b] / tau)
                r = min(gain[b] * (1.0 + r), _MOST_EVIDENCE)
                most = max(most, r)
                if fabs(u[i * d + j]) > limit[j]:
                    bins[i] = -1
                    continue
                off = _clipped(log_e[b] - mean, _SCORE)
                square = _KEPT_OF_SCORES * square + off * off
                product = _KEPT_OF_SCORES * product + off * latest
                mean += 0.01 * off
                latest = off
            evidence[j] = r
            # The statistic of a key that was not there counts as well.
            peak[j] = max(most, r)
            if peak[j] >= level:
                continue
            moments[j], moments[d + j], moments[2 * d + j], moments[3 * d + j] = square, product, mean, latest
            size = 1.0
            for i in range(n):
                if bins[i] >= 0:
                    size *= _KEPT
            for b in range(_BINS):
                own[b] *= size
            for i in range(n):
                if bins[i] >= 0:
                    own[bins[i]] += 1.0
    free(bins)
    free(tables)
    return peaks


def extremes(residuals, limits):
    cdef Py_ssize_t n = len(residuals), d = len(limits), i, j
    cdef double* u = _numbers(residuals, n * d)
    cdef double* limit = _numbers(limits, d)
    largest, n_far, was_near = _empty(d), np.zeros(d, dtype=np.int64), np.zeros(d, dtype=_bools)
    cdef double* most = _state(largest, d)
    cdef int64_t* far = _integers(n_far, d)
    cdef uint8_t* near = _flags(was_near, d)
    cdef double size
    for j in range(d):
        most[j] = 0.0
    for i in range(n):
        for j in range(d):
            size = fabs(u[i * d + j])
            if isnan(size):
                continue
            if size <= limit[j]:
                near[j], far[j] = True, 0
            else:
                far[j], size = far[j] + 1, limit[j]
            most[j] = max(most[j], size)
    return largest, n_far, was_near


# Units.


cdef inline double _clipped(double value, double limit) noexcept nogil:
    # NaN stays.
    return limit if value > limit else -limit if value < -limit else value


def moments(rows, n, mean, deviation, variance, double memory, bint centered):
    cdef Py_ssize_t k = len(rows), d = len(mean), i, j
    rows = _floats(rows)
    n_after, mean_after, variance_after, anew = _empty(d), _empty(d), _empty(d), _empty(d, _bools)
    cdef double* x = _numbers(rows, k * d)
    cdef double* n_before = _numbers(n, d)
    cdef double* m = _numbers(mean, d)
    cdef double* s = _numbers(deviation, d)
    cdef double* v = _numbers(variance, d)
    cdef double* n_out = _state(n_after, d)
    cdef double* m_out = _state(mean_after, d)
    cdef double* v_out = _state(variance_after, d)
    cdef uint8_t* collapsed = _flags(anew, d)
    cdef double limit, new, far, total, share, average, within, shift
    cdef bint free_
    cdef double* shifts = _scratch(k)
    for j in range(d):
        limit, new, far, total = _WINSOR * s[j], 0.0, 0.0, 0.0
        for i in range(k):
            shifts[i] = shift = x[i * d + j] - m[j]
            if isnan(shift) or (not centered and shift == 0.0):
                shifts[i] = NAN
                continue
            new += 1.0
            if fabs(shift) > limit:
                far += 1.0
        free_ = n_before[j] <= _SETTLED or limit < _CONSTANT or (2.0 * far > new and new > _SETTLED)
        for i in range(k):
            if not isnan(shifts[i]):
                if not free_:
                    shifts[i] = _clipped(shifts[i], limit)
                total += shifts[i]
        n_out[j], collapsed[j] = n_before[j] + new, False
        share = average = within = 0.0
        if new > 0.0:
            share, average = new / min(n_out[j], max(memory, new)), total / new
            for i in range(k):
                if not isnan(shifts[i]):
                    within += (shifts[i] - average) * (shifts[i] - average)
            within /= new
        if new >= _SETTLED and within < _COLLAPSED * _COLLAPSED * v[j]:
            total = _ROUNDING * (fabs(m[j]) + fabs(average))
            if within > total * total:
                n_out[j], share, collapsed[j] = new, 1.0, True
        within += ((1.0 - share) if centered else 1.0) * average * average
        v_out[j] = (1.0 - share) * v[j] + share * within
        m_out[j] = m[j] + share * average if centered else m[j]
    free(shifts)
    return n_after, mean_after, variance_after, anew


def standardize(row, mean, inverse, double limit):
    cdef Py_ssize_t d = len(mean), n, i, j = 0
    row = _floats(row)
    scaled = _empty(row.shape)
    n = len(row) if scaled.ndim > 1 else 1
    cdef double* x = _numbers(row, n * d)
    cdef double* m = _numbers(mean, d)
    cdef double* k = _numbers(inverse, d)
    cdef double* out = _state(scaled, n * d)
    for _ in range(n):
        for i in range(d):
            out[j] = _clipped((x[j] - m[i]) * k[i], limit)
            j += 1
    return scaled


def view(row, mean, inverse, double limit):
    cdef Py_ssize_t d = len(mean), i
    cdef bint complete = True
    seen = _empty((1, d + 1))
    cdef double* x = _numbers(row, d)
    cdef double* m = _numbers(mean, d)
    cdef double* k = _numbers(inverse, d)
    cdef double* out = _state(seen, d + 1)
    out[0] = 1.0
    for i in range(d):
        out[i + 1] = _clipped((x[i] - m[i]) * k[i], limit)
        if isnan(out[i + 1]):
            complete = False
    return seen, complete


def views(view, filled, double limit, Py_ssize_t n_previous):
    cdef Py_ssize_t d = len(filled), i
    cdef double* x = _numbers(view, d + 1)
    cdef double* known = _numbers(filled, d)
    seen = _empty((3, d + 1))
    cdef double* present = _state(seen, 3 * (d + 1))
    cdef double* completed = present + d + 1
    cdef double* fresh = completed + d + 1
    present[0] = completed[0] = fresh[0] = x[0]
    for i in range(d):
        if isnan(x[i + 1]):
            present[i + 1] = 0.0
            completed[i + 1] = _clipped(known[i], limit)
        else:
            present[i + 1] = completed[i + 1] = x[i + 1]
        fresh[i + 1] = 0.0 if i < n_previous else completed[i + 1]
    return seen


def clip(row, double limit):
    row = _floats(row)
    clipped = _empty(row.shape)
    cdef Py_ssize_t n = row.size, i
    cdef double* x = _numbers(row, n)
    cdef double* out = _state(clipped, n)
    for i in range(n):
        out[i] = _clipped(x[i], limit)
    return clipped


# What experts predict, and how much each of them counts.


cdef void _scores(
    double* x, int n_views, double* w, int n, Py_ssize_t groups, Py_ssize_t all_groups, int views, int columns,
    double* scores,
) noexcept nogil:
    """Scores of the first groups of models; those of the others are 0."""
    cdef int size = groups * views * columns, stride = all_groups * views * columns, one = 1
    cdef double unit = 1.0, zero = 0.0
    cdef Py_ssize_t g
    cdef int i, v, k
    cdef double value
    memset(scores, 0, stride * sizeof(double))
    if size == 0:
        return
    if n_views == 1:
        dgemv("N", &size, &n, &unit, w, &stride, x, &one, &zero, scores, &one)
        return
    for i in range(n):
        for g in range(groups):
            for v in range(views):
                value = x[v * n + i]
                for k in range(columns):
                    scores[k] += value * w[k]
                scores += columns
                w += columns
        scores -= size
        w += stride - size


def linear_scores(inputs, weights, Py_ssize_t n_groups):
    inputs = _floats(inputs)
    cdef Py_ssize_t of_inputs[2]
    cdef Py_ssize_t of_weights[4]
    cdef double* x = _shaped(inputs, 2, of_inputs)
    cdef double* w = _shaped(weights, 4, of_weights)
    cdef Py_ssize_t n = of_inputs[1], groups = of_weights[1], views = of_weights[2], columns = of_weights[3]
    if not (n <= of_weights[0] and 0 <= n_groups <= groups) or of_inputs[0] != 1 and of_inputs[0] != views:
        raise ValueError("inputs and weights do not fit together")
    scores = _empty((groups * views, columns))
    _scores(x, of_inputs[0], w, n, n_groups, groups, views, columns, _state(scores, groups * views * columns))
    return scores


cdef void _probabilities(double* scores, Py_ssize_t n, Py_ssize_t columns, double* odds) noexcept nogil:
    cdef Py_ssize_t i, k
    cdef double top, total
    for i in range(n):
        if columns == 1:
            odds[i] = 1.0 / (1.0 + exp(-scores[i]))
            continue
        top = 0.0
        for k in range(columns):
            top = max(top, scores[k])
        total = exp(-top)
        for k in range(columns):
            odds[k] = exp(scores[k] - top)
            total += odds[k]
        for k in range(columns):
            odds[k] /= total
        scores += columns
        odds += columns


def predictions(scores, task):
    if type(task) is not Probabilities:
        return scores
    scores = _floats(scores)
    cdef Py_ssize_t shape[2]
    cdef double* s = _shaped(scores, 2, shape)
    odds = _empty((shape[0], shape[1]))
    _probabilities(s, shape[0], shape[1], _state(odds, shape[0] * shape[1]))
    return odds


cdef void _weigh(double* strengths, double* awake, Py_ssize_t n, double* weights) noexcept nogil:
    cdef double total = 0.0, n_awake = 0.0
    cdef Py_ssize_t i
    for i in range(n):
        weights[i] = strengths[i] * awake[i]
        total += weights[i]
        n_awake += awake[i]
    if not 0.0 < total < INFINITY:
        total = n_awake if n_awake > 0.0 else 1.0
        for i in range(n):
            weights[i] = awake[i]
    for i in range(n):
        weights[i] /= total


def weigh(strengths, awake):
    strengths = _floats(strengths)
    awake = _floats(awake)
    cdef Py_ssize_t n = len(awake)
    weights = _empty(n)
    _weigh(_numbers(strengths, n), _numbers(awake, n), n, _state(weights, n))
    return weights


# What it costs to be wrong, and what follows from it.


cdef void _losses(
    double* p, double* target, Py_ssize_t n, Py_ssize_t columns, double most, double* lost
) noexcept nogil:
    """Losses of numbers, or, where `most` is 0, of probabilities."""
    cdef Py_ssize_t i, k
    cdef double off, total, squares
    for i in range(n):
        total = squares = 0.0
        for k in range(columns):
            off = p[k] - target[k]
            if most > 0.0:
                off = min(fabs(off) / most, 1.0)
            total += off
            squares += off * off
        lost[i] = squares if columns == 1 else 0.5 * (squares + total * total)
        p += columns


cdef double _most(task) except? -1:
    return 0.0 if type(task) is Probabilities else _of(task, 1)


def losses(predicted, target, task):
    predicted, target = _floats(predicted), _floats(target)
    cdef Py_ssize_t shape[2]
    cdef double* p = _shaped(predicted, 2, shape)
    lost = _empty(shape[0])
    _losses(p, _numbers(target, shape[1]), shape[0], shape[1], _most(task), _state(lost, shape[0]))
    return lost


cdef void _errors(
    double* p, double* target, Py_ssize_t n, Py_ssize_t columns, double farthest, double* off
) noexcept nogil:
    """Errors of numbers, or, where `farthest` is 0, of probabilities."""
    cdef Py_ssize_t i, k
    cdef double total
    for i in range(n):
        total = 0.0
        for k in range(columns):
            off[k] = target[k] - p[k]
            total += off[k]
            if farthest > 0.0:
                off[k] = _clipped(off[k], farthest)
        if columns > 1:
            for k in range(columns):
                off[k] = (off[k] + total) * columns / (columns + 1.0)
        p += columns
        off += columns


cdef double _farthest(task) except? -1:
    return 0.0 if type(task) is Probabilities else _of(task, 0)


def errors(predicted, target, task):
    predicted, target = _floats(predicted), _floats(target)
    cdef Py_ssize_t shape[2]
    cdef double* p = _shaped(predicted, 2, shape)
    off = _empty((shape[0], shape[1]))
    _errors(p, _numbers(target, shape[1]), shape[0], shape[1], _farthest(task), _state(off, shape[0] * shape[1]))
    return off


cdef double _curvature(double* p, double* target, Py_ssize_t columns, task) except? -1:
    cdef double total = 0.0, squares = 0.0, farthest
    cdef Py_ssize_t k
    if type(task) is not Probabilities:
        farthest = _of(task, 0)
        return farthest / max(fabs(target[0] - p[0]), farthest) if _of(task, 2) else 0.0
    for k in range(columns):
        total += p[k]
        squares += p[k] * p[k]
    return (1.0 - (1.0 - total) * (1.0 - total) - squares) / (columns + 1.0)


def curvature(mixture, target, task):
    mixture, target = _floats(mixture), _floats(target)
    cdef Py_ssize_t columns = len(mixture)
    return _curvature(_numbers(mixture, columns), _numbers(target, columns), columns, task)


cdef void _strengths(double* r, double* m, double* prior, Py_ssize_t n, double* out) noexcept nogil:
    cdef Py_ssize_t i
    cdef double top = 0.0, scale, upper, lower
    for i in range(n):
        if r[i] > -1.0:
            top = max(top, (r[i] + 1.0) * (r[i] + 1.0) / (3.0 * m[i] + 3.0))
    for i in range(n):
        scale = 3.0 * m[i] + 3.0
        upper = (r[i] + 1.0) * (r[i] + 1.0) / scale if r[i] > -1.0 else 0.0
        lower = (r[i] - 1.0) * (r[i] - 1.0) / scale if r[i] > 1.0 else 0.0
        out[i] = prior[i] * (exp(upper - top) - exp(lower - top))


def strengthen(hedge):
    cdef Py_ssize_t n = len(_of(hedge, 1))
    _strengths(_numbers(_of(hedge, 1), n), _numbers(_of(hedge, 2), n), _numbers(_of(hedge, 3), n), n, _state(_of(hedge, 4), n))


cdef void _regret(
    double* losses, double loss, double* awake, Py_ssize_t n, double forgetting, double* r, double* m
) noexcept nogil:
    cdef double gained
    cdef Py_ssize_t i
    for i in range(n):
        gained = (loss - losses[i]) * awake[i] if awake[i] else 0.0
        r[i] = forgetting * r[i] + gained
        m[i] = forgetting * m[i] + fabs(gained)


def regret(lost, double loss, awake, hedge):
    lost, awake = _floats(lost), _floats(awake)
    cdef Py_ssize_t n = len(lost)
    cdef double* r = _state(_of(hedge, 1), n)
    cdef double* m = _state(_of(hedge, 2), n)
    cdef double* prior = _numbers(_of(hedge, 3), n)
    cdef double* strengths = _state(_of(hedge, 4), n)
    _regret(_numbers(lost, n), loss, _numbers(awake, n), n, _of(hedge, 0), r, m)
    _strengths(r, m, prior, n, strengths)


cdef double _forgetting(rule) except? -1:
    return 1.0 if type(rule) is FirstOrder else _of(rule, 0)


cdef inline bint _the_same(double* row, Py_ssize_t stride, Py_ssize_t d) noexcept nogil:
    """Whether a row is the one before it, as views often are."""
    return memcmp(row, row - stride, d * sizeof(double)) == 0


cdef int _directions(
    double* x, Py_ssize_t n_views, Py_ssize_t stride, int d, double bend, Py_ssize_t learn_from, rule,
    double* found, double* squares,
) except -1:
    """Directions for so many views, the next of which is a stride further, and the step of P."""
    cdef int one = 1, i, v
    cdef double zero = 0.0, total = 0.0, scale, forgetting, shrink
    cdef double* direction
    cdef double* view
    cdef double* P
    cdef double* numbers
    cdef bint full, fades
    if type(rule) is FirstOrder:
        scale = _of(rule, 0)
        for v in range(n_views):
            direction, view, total = found + v * stride, x + v * stride, 0.0
            for i in range(d):
                direction[i] = scale * view[i]
                total += direction[i] * view[i]
            squares[v] = total
        return 0
    if type(rule) is Given:
        P, numbers = _numbers(_of(rule, 1), n_views * d), _numbers(_of(rule, 2), n_views)
        for v in range(n_views):
            for i in range(d):
                found[v * stride + i] = P[v * d + i]
            squares[v] = numbers[v]
        return 0
    forgetting = _of(rule, 0)
    P = _matrix(_of(rule, 1), d, &full)
    numbers = _state(_of(rule, 2), 4)
    scale = numbers[_SCALE]
    if d == 0:
        for v in range(n_views):
            squares[v] = 0.0
        return 0
    for v in range(n_views):
        direction, view = found + v * stride, x + v * stride
        if v and _the_same(view, stride, d):
            memcpy(direction, direction - stride, d * sizeof(double))
            squares[v] = squares[v - 1]
            continue
        if full:
            dsymv("U", &d, &scale, P, &d, view, &one, &zero, direction, &one)
        else:
            for i in range(d):
                direction[i] = scale * P[i] * view[i]
        squares[v] = ddot(&d, view, &one, direction, &one)
    direction, view = found + learn_from * stride, x + learn_from * stride
    fades = forgetting < 1.0 and numbers[_TRACE] * scale < numbers[_MOST]
    if not fades and squares[learn_from] * d <= _CERTAIN * numbers[_MOST] * ddot(&d, view, &one, view, &one):
        return 0
    if full:
        shrink = -bend / (scale * (forgetting + bend * squares[learn_from]))
        dsyr("U", &d, &shrink, direction, &one, P, &d)
        numbers[_TRACE] += shrink * ddot(&d, direction, &one, direction, &one)
    else:
        for i in range(d):
            P[i] = 1.0 / (1.0 / P[i] + (bend * scale / forgetting) * view[i] * view[i])
            total += P[i]
        numbers[_TRACE] = total
    # Directions that are not seen for long must not become more uncertain than they were at first.
    if forgetting < 1.0 and numbers[_TRACE] * scale < numbers[_MOST]:
        numbers[_SCALE] /= forgetting
        numbers[_LEFT] *= forgetting
        if numbers[_SCALE] > _LARGE:
            scale, total = numbers[_SCALE], 0.0
            for i in range(d * d if full else d):
                P[i] *= scale
            for i in range(d):
                total += P[i * (d + 1) if full else i]
            numbers[_SCALE] = 1.0
            numbers[_TRACE] = total
    return 0


def directions(views, double bend, Py_ssize_t learn_from, rule):
    views = _floats(views)
    cdef Py_ssize_t shape[2]
    cdef double* x = _shaped(views, 2, shape)
    if not 0 <= learn_from < shape[0]:
        raise ValueError(f"there is no view {learn_from}")
    found, squares = _empty((shape[0], shape[1])), _empty(shape[0])
    cdef double* out = _state(found, shape[0] * shape[1])
    _directions(x, shape[0], shape[1], shape[1], bend, learn_from, rule, out, _state(squares, shape[0]))
    return found, squares


cdef int _learn_linear(
    double* x, Py_ssize_t n_views, Py_ssize_t n, double bend, Py_ssize_t learn_from, double* off, experts, double* w,
    Py_ssize_t* shape,
) except -1:
    """Move the weights of n inputs, of shape (all inputs, all heads · rules, views, columns)."""
    cdef list heads = _of(experts, 1), ends = _of(experts, 2), rules = _of(experts, 3)
    cdef Py_ssize_t views = shape[2], columns = shape[3]
    cdef Py_ssize_t n_maps = len(ends), n_heads = len(heads), n_rules = len(rules[0]) if n_maps else 0
    cdef Py_ssize_t k, r, v, i, c, h, start = 0, end, size = n_rules * n_views
    cdef Py_ssize_t width
    cdef double value
    cdef double* move
    if len(rules) != n_maps or n_heads * n_rules > shape[1] or n > shape[0] or not (n_views == 1 or n_views == views):
        raise ValueError("inputs, weights and rules do not fit together")
    if not 0 <= learn_from < n_views:
        raise ValueError(f"there is no view {learn_from}")
    # Directions by rule, view and input; 1 / (λ + h xᵀ P x) by map, rule and view, over all maps up to it.
    cdef double* found = _scratch(size * (n + n_maps + 1) + n_views + n_maps + n_heads + shape[1] * views * columns)
    cdef double* damping = found + size * n
    cdef double* squares = damping + size * (n_maps + 1)
    cdef double* stops = squares + n_views
    cdef double* last = stops + n_maps
    cdef double* factors = last + n_heads
    cdef double* known
    try:
        for h in range(n_heads):
            last[h] = <Py_ssize_t>heads[h]
            if not 0 <= last[h] < n_maps:
                raise ValueError("a head has no map")
        for r in range(n_rules):
            for v in range(n_views):
                damping[r * n_views + v] = _forgetting(rules[0][r])
        for k in range(n_maps):
            end = ends[k]
            stops[k] = end
            block = <list>rules[k]
            if not start <= end <= n or len(block) != n_rules:
                raise ValueError("inputs, weights and rules do not fit together")
            known = damping + k * size
            for r in range(n_rules):
                _directions(
                    x + start, n_views, n, end - start, bend, learn_from, block[r], found + r * n_views * n + start,
                    squares,
                )
                for v in range(n_views):
                    known[r * n_views + v] += bend * squares[v]
            for i in range(size):
                known[size + i] = known[i]
                known[i] = 1.0 / known[i]
            start = end
        if start != n:
            raise ValueError("inputs, weights and rules do not fit together")
        # How far each weight goes along the direction of its rule.
        move = factors
        for h in range(n_heads):
            known = damping + <Py_ssize_t>last[h] * size
            for r in range(n_rules):
                for v in range(views):
                    value = known[r * n_views + (v if n_views > 1 else 0)]
                    for c in range(columns):
                        move[c] = value * off[c]
                    move += columns
                    off += columns
        k = 0
        width = views * columns
        for i in range(n):
            while i == stops[k]:
                k += 1
            move = factors
            for h in range(n_heads):
                if last[h] < k:
                    w += n_rules * width
                    move += n_rules * width
                    continue
                for r in range(n_rules):
                    if n_views == 1:
                        value = found[r * n + i]
                        for c in range(width):
                            w[c] += value * move[c]
                    else:
                        for v in range(views):
                            value = found[(r * n_views + v) * n + i]
                            for c in range(columns):
                                w[v * columns + c] += value * move[v * columns + c]
                    w += width
                    move += width
            # Those that rest.
            w += (shape[1] - n_heads * n_rules) * width
    finally:
        free(found)
    return 0


def learn_linear(inputs, double bend, Py_ssize_t learn_from, off, experts):
    cdef Py_ssize_t of_inputs[2]
    cdef Py_ssize_t shape[4]
    cdef double* x = _shaped(inputs, 2, of_inputs)
    cdef double* w = _shaped(_of(experts, 4), 4, shape, True)
    cdef double* e = _numbers(off, shape[1] * shape[2] * shape[3])
    _learn_linear(x, of_inputs[0], of_inputs[1], bend, learn_from, e, experts, w, shape)


# Functions of a row.


cdef inline double _sum(double* x, int n) noexcept nogil:
    """A sum in four parts, none of which has to wait for the others."""
    cdef double a = 0.0, b = 0.0, c = 0.0, d = 0.0
    cdef int i = 0
    while i + 4 <= n:
        a += x[i]
        b += x[i + 1]
        c += x[i + 2]
        d += x[i + 3]
        i += 4
    while i < n:
        a += x[i]
        i += 1
    return (a + b) + (c + d)


cdef inline double _smallest(double* x, int n) noexcept nogil:
    """The smallest of some numbers, in four parts as well."""
    cdef double a = INFINITY, b = INFINITY, c = INFINITY, d = INFINITY
    cdef int i = 0
    while i + 4 <= n:
        a = x[i] if x[i] < a else a
        b = x[i + 1] if x[i + 1] < b else b
        c = x[i + 2] if x[i + 2] < c else c
        d = x[i + 3] if x[i + 3] < d else d
        i += 4
    while i < n:
        a = x[i] if x[i] < a else a
        i += 1
    return min(min(a, b), min(c, d))


cdef int _features(
    double* rows, Py_ssize_t k, Py_ssize_t stride, int d, form, Py_ssize_t n, double* out, Py_ssize_t out_stride
) except -1:
    """n features of k rows; the next row is a stride further."""
    cdef Py_ssize_t shape[2]
    cdef int one = 1, width = n, known
    cdef double unit = 1.0, minus_two = -2.0, square, total, least, weight
    cdef double* matrix
    cdef double* first
    cdef double* second
    cdef double* third
    cdef double* apart
    cdef Py_ssize_t i, j, c
    if type(form) is Same:
        for i in range(k):
            for j in range(d):
                out[i * out_stride + j] = rows[i * stride + j]
        return 0
    matrix = _shaped(_of(form, 0), 2, shape)
    if shape[1] != d:
        raise ValueError("a feature map does not fit the rows")
    if type(form) is Fourier:
        if shape[0] != n:
            raise ValueError("a feature map does not fit its features")
        first, second = _numbers(_of(form, 1), n), _numbers(_of(form, 2), n)
        for i in range(k):
            if i and _the_same(rows, stride, d):
                memcpy(out, out - out_stride, n * sizeof(double))
            else:
                for j in range(n):
                    out[j] = first[j]
                if d:
                    dgemv("T", &d, &width, &unit, matrix, &d, rows, &one, &unit, out, &one)
                for j in range(n):
                    out[j] = second[j] * cos(out[j])
            rows += stride
            out += out_stride
        return 0
    first, second, third = _numbers(_of(form, 1), shape[0]), _numbers(_of(form, 2), shape[0] * n), _numbers(_of(form, 3), shape[0])
    known = _integers(_of(form, 5), 2)[0]
    if not 0 <= known <= shape[0]:
        raise ValueError("a feature map does not fit its rows")
    apart = _scratch(known)
    for i in range(k):
        if i and _the_same(rows, stride, d):
            memcpy(out, out - out_stride, n * sizeof(double))
            rows += stride
            out += out_stride
            continue
        for c in range(n):
            out[c] = 0.0
        if known:
            square = ddot(&d, rows, &one, rows, &one)
            for j in range(known):
                apart[j] = first[j] + square
            if d:
                dgemv("T", &d, &known, &minus_two, matrix, &d, rows, &one, &unit, apart, &one)
            # Rows that are the same but for rounding count alike.
            total = _SAME * (1.0 + _sum(apart, known) / known)
            for j in range(known):
                apart[j] = max(apart[j], total)
            least = _smallest(apart, known)
            for j in range(known):
                weight = least / apart[j]
                apart[j] = third[j] * weight * weight
            total = _sum(apart, known)
            if n:
                dgemv("N", &width, &known, &unit, second, &width, apart, &one, &unit, out, &one)
            for c in range(n):
                out[c] /= total
        rows += stride
        out += out_stride
    free(apart)
    return 0


cdef Py_ssize_t _width(form, Py_ssize_t d) except -1:
    """Number of features."""
    cdef Py_ssize_t shape[2]
    if type(form) is Same:
        return d
    if type(form) is Fourier:
        return len(_of(form, 1))
    _shaped(_of(form, 2), 2, shape)
    return shape[1]


def features(rows, form):
    rows = _floats(rows)
    cdef Py_ssize_t shape[2]
    cdef double* x = _shaped(rows, 2, shape)
    cdef Py_ssize_t n = _width(form, shape[1])
    found = _empty((shape[0], n))
    _features(x, shape[0], shape[1], shape[1], form, n, _state(found, shape[0] * n), n)
    return found


cdef int _remember(double* x, Py_ssize_t width, double* y, Py_ssize_t columns, double weight, form) except -1:
    """Keep a row of a width, and its outcome."""
    cdef Py_ssize_t of_rows[2]
    cdef double* rows = _shaped(_of(form, 0), 2, of_rows, True)
    cdef Py_ssize_t n = of_rows[0], d = of_rows[1], i
    cdef double* squares = _state(_of(form, 1), n)
    cdef double* outcomes = _state(_of(form, 2), n * columns)
    cdef double* weights = _state(_of(form, 3), n)
    cdef uint8_t* earlier = _flags(_of(form, 4), n)
    cdef int64_t* counts = _integers(_of(form, 5), 2)
    cdef Py_ssize_t at = counts[0]
    if width != d:
        raise ValueError(f"a row of {d} numbers was expected, not one of {width}")
    if 0 <= at < n:
        counts[0] += 1
    else:
        at = counts[1]
        if not 0 <= at < n:
            raise ValueError("there is no room for a row")
        counts[1] = (at + 1) % n
    rows, outcomes = rows + at * d, outcomes + at * columns
    squares[at] = 0.0
    for i in range(d):
        rows[i] = x[i]
        squares[at] += x[i] * x[i]
    for i in range(columns):
        outcomes[i] = y[i]
    weights[at], earlier[at] = weight, False
    return 0


def remember(row, outcome, double weight, form):
    row, outcome = _floats(row), _floats(outcome)
    cdef Py_ssize_t d = len(row), columns = len(outcome)
    _remember(_numbers(row, d), d, _numbers(outcome, columns), columns, weight, form)


# Scores in another unit.


def rescale_scores(weights, of_outcomes, double factor, double shift):
    cdef Py_ssize_t inputs = len(of_outcomes), width = weights.size // max(inputs, 1), i, k
    cdef double* w = _state(weights, inputs * width)
    cdef uint8_t* keeps = _flags(of_outcomes, inputs)
    cdef double* constant = w
    cdef double* total
    if not inputs:
        return
    total = _scratch(width)
    for k in range(width):
        total[k] = 0.0
    for i in range(inputs):
        for k in range(width):
            if keeps[i]:
                total[k] += w[k]
            else:
                w[k] *= factor
        w += width
    for k in range(width):
        constant[k] += shift * (1.0 - total[k])
    free(total)


def rescale_outcomes(outcomes, double factor, double shift, double limit):
    cdef Py_ssize_t n = outcomes.size, i
    cdef double* y = _state(outcomes, n)
    for i in range(n):
        y[i] = factor * y[i] + shift
        y[i] = 0.0 if isnan(y[i]) else _clipped(y[i], limit)


# A whole round, for linear experts whose parts are all of a known form.


cdef int _inputs(
    double* views, Py_ssize_t n_views, Py_ssize_t d, double limit, list maps, Py_ssize_t n, double* inputs
) except -1:
    """n inputs for each view of a row behind a leading 1: the 1, and the features of the clipped row."""
    cdef double* rows = _scratch(n_views * d)
    cdef Py_ssize_t v, i, start = 1, width
    try:
        for v in range(n_views):
            inputs[v * n] = 1.0
            for i in range(d):
                rows[v * d + i] = _clipped(views[v * (d + 1) + 1 + i], limit)
        for each in maps:
            width = _width(each, d)
            if start + width > n:
                raise ValueError("feature maps and weights do not fit together")
            _features(rows, n_views, d, d, each, width, inputs + start, n)
            start += width
        if start != n:
            raise ValueError("feature maps and weights do not fit together")
    finally:
        free(rows)
    return 0


cdef Py_ssize_t _n_groups(experts) except -1:
    """Number of heads times rules."""
    cdef list heads = _of(experts, 1), rules = _of(experts, 3)
    return len(heads) * len(<list>rules[0])


cdef void _mix(
    double* strengths, double* awake, Py_ssize_t n, double* predictions, Py_ssize_t columns, double* shares,
    double* mixture,
) noexcept nogil:
    """How much each of the first n experts counts among them, and the mixture of what they predict."""
    cdef Py_ssize_t i, k
    _weigh(strengths, awake, n, shares)
    for k in range(columns):
        mixture[k] = 0.0
    for i in range(n):
        for k in range(columns):
            mixture[k] += shares[i] * predictions[i * columns + k]


cdef int _ask(
    double* inputs, Py_ssize_t n_views, Py_ssize_t n_inputs, double* w, Py_ssize_t* shape, Py_ssize_t groups,
    double* strengths, double* awake, task, double* predictions, double* shares, double* mixture,
) except -1:
    cdef Py_ssize_t columns = shape[3], n = shape[1] * shape[2]
    _scores(inputs, n_views, w, n_inputs, groups, shape[1], shape[2], columns, predictions)
    if type(task) is Probabilities:
        _probabilities(predictions, n, columns, predictions)
    _mix(strengths, awake, n, predictions, columns, shares, mixture)
    return 0


def ask(views, double limit, experts, hedge, task):
    cdef list maps = _of(experts, 0), ends = _of(experts, 2)
    weights, awake, strengths = _of(experts, 4), _of(experts, 5), _of(hedge, 4)
    cdef Py_ssize_t of_views[2]
    cdef Py_ssize_t shape[4]
    cdef double* x = _shaped(views, 2, of_views)
    cdef double* w = _shaped(weights, 4, shape)
    cdef Py_ssize_t n = shape[1] * shape[2], n_views = of_views[0]
    cdef Py_ssize_t n_inputs = ends[len(ends) - 1], groups = _n_groups(experts)
    if n_views != 1 and n_views != shape[2] or not 0 <= n_inputs <= shape[0] or groups > shape[1]:
        raise ValueError("views and weights do not fit together")
    inputs, predictions, shares, mixture = (
        _empty((n_views, n_inputs)), _empty((n, shape[3])), _empty(n), _empty(shape[3])
    )
    cdef double* read = _state(inputs, n_views * n_inputs)
    _inputs(x, n_views, of_views[1] - 1, limit, maps, n_inputs, read)
    _ask(
        read, n_views, n_inputs, w, shape, groups, _numbers(strengths, n), _numbers(awake, n), task,
        _state(predictions, n * shape[3]), _state(shares, n), _state(mixture, shape[3]),
    )
    return predictions, awake, inputs, shares, mixture


cdef int _compare(
    double* predictions, double* shares, double* awake, double* target, Py_ssize_t* shape, experts, task
) except -1:
    """Note by how much the models of each head make the mixture better than those of the heads before it."""
    cdef Py_ssize_t heads = len(_of(experts, 1)), columns = shape[3], h, end = 0, of_merits[2]
    cdef double* merits = _shaped(_of(experts, 6), 2, of_merits, True)
    cdef double* trend = _state(_of(experts, 7), 2)
    cdef double before = 0.0, loss, most = _most(task)
    if of_merits[0] != 2 or not 0 < heads <= of_merits[1]:
        raise ValueError("there must be two merits for each head")
    cdef Py_ssize_t size = _n_groups(experts) // heads * shape[2]
    cdef double* weights = _scratch(heads * size + columns)
    cdef double* mixture = weights + heads * size
    for h in range(heads):
        end += size
        _mix(shares, awake, end, predictions, columns, weights, mixture)
        _losses(mixture, target, 1, columns, most, &loss)
        merits[h] = _KEPT_OF_MERITS * merits[h] + (before - loss)
        merits[of_merits[1] + h] = _KEPT_OF_MERITS * merits[of_merits[1] + h] + before
        before = loss
    if trend[1] != 0.0:
        trend[0] = _KEPT_OF_TREND * trend[0] + (1.0 - _KEPT_OF_TREND) * before
        trend[1] = _KEPT_OF_MERITS * trend[1] + (1.0 - _KEPT_OF_MERITS) * before
    else:
        trend[0] = trend[1] = before
    free(weights)
    return 0


cdef int _play(
    double* inputs, Py_ssize_t n_views, Py_ssize_t n_inputs, Py_ssize_t learn_from, double* predictions, double* shares,
    double* mixture, double* target, double weight, double* w, Py_ssize_t* shape, experts, double* awake, hedge, task,
) except -1:
    cdef Py_ssize_t columns = shape[3], n = shape[1] * shape[2], i
    cdef double loss, bend
    cdef double* lost = _scratch(n * (columns + 1))
    cdef double* off = lost + n
    cdef double* r = _state(_of(hedge, 1), n)
    cdef double* m = _state(_of(hedge, 2), n)
    try:
        _compare(predictions, shares, awake, target, shape, experts, task)
        _losses(predictions, target, n, columns, _most(task), lost)
        _losses(mixture, target, 1, columns, _most(task), &loss)
        _errors(predictions, target, n, columns, _farthest(task), off)
        bend = _curvature(mixture, target, columns, task)
        _regret(lost, loss, awake, n, _of(hedge, 0), r, m)
        _strengths(r, m, _numbers(_of(hedge, 3), n), n, _state(_of(hedge, 4), n))
        for i in range(n * columns):
            off[i] *= weight
        _learn_linear(inputs, n_views, n_inputs, weight * bend, learn_from, off, experts, w, shape)
    finally:
        free(lost)
    return 0


def play(inputs, Py_ssize_t learn_from, predicted, shares, mixture, target, double weight, experts, hedge, task):
    weights, awake = _of(experts, 4), _of(experts, 5)
    cdef Py_ssize_t of_inputs[2]
    cdef Py_ssize_t shape[4]
    cdef double* x = _shaped(inputs, 2, of_inputs)
    cdef double* w = _shaped(weights, 4, shape, True)
    cdef Py_ssize_t n = shape[1] * shape[2]
    if _n_groups(experts) > shape[1]:
        raise ValueError("rules and weights do not fit together")
    _play(
        x, of_inputs[0], of_inputs[1], learn_from, _numbers(predicted, n * shape[3]), _numbers(shares, n),
        _numbers(mixture, shape[3]), _numbers(target, shape[3]), weight, w, shape, experts, _numbers(awake, n), hedge,
        task,
    )


cdef int _heads_to_play(
    int playing, int64_t played, double* gains, double* losses, int heads, double* trend, resting
) except -1:
    cdef double min_gain = _of(resting, 0), worse = _of(resting, 3)
    cdef int64_t trial = _of(resting, 1), every = _of(resting, 2)
    if played < trial or played % every == 0:
        return heads
    if trend[0] > worse * trend[1]:
        return 0
    if played != trial and played % every != 1:
        return playing
    while heads > 1 and gains[heads - 1] <= min_gain * losses[heads - 1]:
        heads -= 1
    return heads


def heads_to_play(int playing, int64_t played, merits, trend, resting):
    cdef Py_ssize_t shape[2]
    cdef double* gains = _shaped(merits, 2, shape)
    if shape[0] != 2:
        raise ValueError("there are gains and losses, and nothing else")
    return _heads_to_play(playing, played, gains, gains + shape[1], <int>shape[1], _numbers(trend, 2), resting)


def play_many(views, double limit, targets, outcomes, samples, ahead, hedge, task):
    views, targets, outcomes, samples = _floats(views), _floats(targets), _floats(outcomes), _floats(samples)
    cdef list nearest = _of(ahead, 1), lineups = _of(ahead, 2)
    cdef int playing = _of(ahead, 3), heads
    cdef int64_t before = _of(ahead, 4)
    cdef Py_ssize_t of_views[2]
    cdef Py_ssize_t of_outcomes[2]
    cdef Py_ssize_t of_merits[2]
    cdef Py_ssize_t shape[4]
    cdef double* x = _shaped(views, 2, of_views)
    cdef double* y = _shaped(outcomes, 2, of_outcomes)
    # Those of all heads, of which the other lineups are parts.
    last = lineups[len(lineups) - 1]
    cdef double* w = _shaped(_of(last, 4), 4, shape, True)
    cdef double* merits = _shaped(_of(last, 6), 2, of_merits)
    cdef double* trend = _numbers(_of(last, 7), 2)
    cdef Py_ssize_t rounds = of_views[0], d = of_views[1] - 1, columns = shape[3], n = shape[1] * shape[2], i, k
    cdef Py_ssize_t n_inputs, groups, played = 0
    cdef double* target = _numbers(targets, rounds * columns)
    cdef double* weights = _numbers(samples, rounds)
    cdef double* strengths = _numbers(_of(hedge, 4), n)
    cdef double* awake
    cdef double weight
    shares = np.zeros(n)
    cdef double* share = _state(shares, n)
    if d < 0 or of_outcomes[0] != rounds or of_merits[0] != 2 or not 1 <= playing <= len(lineups) == of_merits[1]:
        raise ValueError("samples and weights do not fit together")
    heads = <int>of_merits[1]
    cdef double* inputs = _scratch(shape[0] + n * columns + columns + d)
    cdef double* predicted = inputs + shape[0]
    cdef double* mixture = predicted + n * columns
    cdef double* row = mixture + columns
    try:
        for i in range(min(<Py_ssize_t>_of(ahead, 0), rounds)):
            experts = lineups[playing - 1]
            ends = _of(experts, 2)
            n_inputs, groups, awake = ends[len(ends) - 1], _n_groups(experts), _numbers(_of(experts, 5), n)
            if _of(experts, 4) is not _of(last, 4) or not 0 <= n_inputs <= shape[0] or groups > shape[1]:
                raise ValueError("samples and weights do not fit together")
            _inputs(x, 1, d, limit, _of(experts, 0), n_inputs, inputs)
            _ask(inputs, 1, n_inputs, w, shape, groups, strengths, awake, task, predicted, share, mixture)
            weight = weights[i]
            _play(
                inputs, 1, n_inputs, 0, predicted, share, mixture, target, weight, w, shape, experts, awake, hedge, task
            )
            if weight > 0.0:
                for k in range(d):
                    row[k] = _clipped(x[1 + k], limit)
                for each in nearest:
                    _remember(row, d, y, of_outcomes[1], weight, each)
            x, y, target = x + d + 1, y + of_outcomes[1], target + columns
            played += 1
            if _of(ahead, 5) is not None:
                playing = _heads_to_play(playing, before + played, merits, merits + heads, heads, trend, _of(ahead, 5))
                if playing == 0:
                    break
    finally:
        free(inputs)
    return played, shares, playing


# What is absent from a row, given what is there.


cdef void _invert_triangle(double* triangle, int n, int stride) noexcept nogil:
    """Inverse of a lower triangle with a positive diagonal, in place. Halves keep BLAS busy, unlike dtrtri."""
    cdef int first = n // 2, second = n - first, info = 0
    cdef double one = 1.0, minus = -1.0
    cdef double* last = triangle + first + first * stride
    cdef double* below = triangle + first
    if n <= _FEW_ROWS:
        dtrtri("L", "N", &n, triangle, &stride, &info)
        return
    _invert_triangle(triangle, first, stride)
    _invert_triangle(last, second, stride)
    dtrmm("R", "L", "N", "N", &second, &first, &one, triangle, &stride, below, &stride)
    dtrmm("L", "L", "N", "N", &second, &first, &minus, last, &stride, below, &stride)


cdef void _invert_factor(double* factor, int n) noexcept nogil:
    """The lower part of the inverse of a matrix, in place of its Cholesky factor."""
    cdef int info = 0
    _invert_triangle(factor, n, n)
    dlauum("L", &n, factor, &n, &info)


cdef void _mirror(double* lower, int n) noexcept nogil:
    """Complete a symmetric matrix of which the lower part is known, in the order of Fortran."""
    cdef int i, j
    for j in range(n):
        for i in range(j):
            lower[j * n + i] = lower[i * n + j]


def inverse(matrix):
    cdef int n = len(matrix), info = 0
    result = _empty((n, n))
    cdef double* out = _state(result, n * n)
    memcpy(out, _numbers(_floats(matrix), n * n), n * n * sizeof(double))
    if n:
        dpotrf("L", &n, out, &n, &info)
        if info:
            return plain_inverse(matrix)
        _invert_factor(out, n)
        _mirror(out, n)
    return result


cdef class _Given:
    """Conditioning on what is there, for rows that lack the same; room for rows of d entries."""

    cdef int d, n_absent, n_there
    cdef bint by_precision, failed
    cdef int* absent
    cdef int* there
    cdef double* mean
    cdef double* covariance
    cdef double* precision
    # Factor of K_aa or of Σ_oo; L⁻¹ Σ_oa where that is what is needed; a covariance of what is absent; and a vector.
    cdef double* factor
    cdef double* across
    cdef double* left
    cdef double* apart

    def __cinit__(self, int d, mean, covariance, precision):
        self.d, self.n_absent = d, -1
        self.absent = <int*>malloc((2 * d + 1) * sizeof(int))
        self.factor = <double*>malloc((3 * d * d + d + 1) * sizeof(double))
        if self.absent == NULL or self.factor == NULL:
            raise MemoryError
        self.there = self.absent + d
        self.across = self.factor + d * d
        self.left = self.across + d * d
        self.apart = self.left + d * d
        self.mean = _numbers(mean, d)
        self.covariance = NULL if covariance is None else _numbers(covariance, d * d)
        self.precision = _numbers(precision, d * d)

    def __dealloc__(self):
        free(self.absent)
        free(self.factor)

    cdef bint lacks_the_same(self, double* row) noexcept nogil:
        cdef int i, k = 0
        if self.n_absent < 0:
            return False
        for i in range(self.d):
            if isnan(row[i]):
                if k >= self.n_absent or self.absent[k] != i:
                    return False
                k += 1
        return k == self.n_absent

    cdef void condition(self, double* row, bint alone) noexcept nogil:
        """Factorize for rows that lack what this one lacks, or for this one alone."""
        cdef int d = self.d, i, j, a = 0, o = 0, info = 0
        cdef double unit = 1.0
        cdef double* source
        for i in range(d):
            if isnan(row[i]):
                self.absent[a] = i
                a += 1
            else:
                self.there[o] = i
                o += 1
        self.n_absent, self.n_there, self.failed = a, o, False
        self.by_precision = self.covariance == NULL or 2 * a <= d
        if self.by_precision:
            for j in range(a):
                source = self.precision + self.absent[j] * d
                for i in range(j, a):
                    self.factor[j * a + i] = source[self.absent[i]]
            if a:
                dpotrf("L", &a, self.factor, &a, &info)
        elif o:
            for j in range(o):
                source = self.covariance + self.there[j] * d
                for i in range(j, o):
                    self.factor[j * o + i] = source[self.there[i]]
            dpotrf("L", &o, self.factor, &o, &info)
            for j in range(0 if alone else a):
                source = self.covariance + self.absent[j] * d
                for i in range(o):
                    self.across[j * o + i] = source[self.there[i]]
            if info == 0 and not alone:
                dtrsm("L", "L", "N", "N", &o, &a, &unit, self.factor, &o, self.across, &o)
        self.failed = info != 0

    cdef void fill(self, double* row, bint alone) noexcept nogil:
        """Let what is absent be what is expected of it."""
        cdef int d = self.d, i, j, a = self.n_absent, o = self.n_there, one = 1, info
        cdef double total
        if a <= 0:
            return
        if self.by_precision:
            for i in range(d):
                self.left[i] = 0.0 if isnan(row[i]) else self.mean[i] - row[i]
            for j in range(a):
                self.apart[j] = ddot(&self.d, self.precision + self.absent[j] * d, &one, self.left, &one)
            dpotrs("L", &a, &one, self.factor, &a, self.apart, &a, &info)
            for j in range(a):
                row[self.absent[j]] = self.mean[self.absent[j]] + self.apart[j]
            return
        for i in range(o):
            self.apart[i] = row[self.there[i]] - self.mean[self.there[i]]
        if alone:
            # Σ_ao (Σ_oo⁻¹ apart), with zeros where nothing is there.
            if o:
                dpotrs("L", &o, &one, self.factor, &o, self.apart, &o, &info)
            for i in range(d):
                self.left[i] = 0.0
            for i in range(o):
                self.left[self.there[i]] = self.apart[i]
            for j in range(a):
                total = ddot(&self.d, self.covariance + self.absent[j] * d, &one, self.left, &one)
                row[self.absent[j]] = self.mean[self.absent[j]] + total
            return
        if o:
            dtrsv("L", "N", "N", &o, self.factor, &o, self.apart, &one)
        for j in range(a):
            total = ddot(&o, self.across + j * o, &one, self.apart, &one) if o else 0.0
            row[self.absent[j]] = self.mean[self.absent[j]] + total

    cdef void add(self, double weight, double* spread) noexcept nogil:
        """Add the covariance of what is absent."""
        cdef int d = self.d, i, j, a = self.n_absent, o = self.n_there, info
        cdef double unit = 1.0, minus = -1.0, value
        cdef double* source
        if a <= 0:
            return
        if self.by_precision:
            for i in range(a * a):
                self.left[i] = self.factor[i]
            _invert_factor(self.left, a)
        else:
            for j in range(a):
                source = self.covariance + self.absent[j] * d
                for i in range(j, a):
                    self.left[j * a + i] = source[self.absent[i]]
            if o:
                dsyrk("L", "T", &a, &o, &minus, self.across, &o, &unit, self.left, &a)
        for j in range(a):
            for i in range(j, a):
                value = weight * self.left[j * a + i]
                spread[self.absent[j] * d + self.absent[i]] += value
                if i != j:
                    spread[self.absent[i] * d + self.absent[j]] += value


def complete(row, absent, mean, covariance, precision):
    cdef Py_ssize_t d = len(mean), i
    cdef _Given given = _Given(d, mean, covariance, precision)
    completed = _empty(d)
    cdef double* known = _numbers(row, d)
    cdef uint8_t* hidden = _flags(absent, d)
    cdef double* x = _state(completed, d)
    for i in range(d):
        x[i] = NAN if hidden[i] else known[i]
    given.condition(x, True)
    if given.failed:
        return plain_complete(row, absent, mean, covariance, precision)
    given.fill(x, True)
    return completed


def expect(rows, mean, covariance, precision, weights):
    cdef Py_ssize_t n = len(rows), d = len(mean), i, k
    cdef _Given given = _Given(d, mean, covariance, precision)
    expected, spread = _floats(rows).copy(), np.zeros((d, d))
    cdef double* x = _state(expected, n * d)
    cdef double* total = _state(spread, d * d)
    cdef double* w = _numbers(weights, n)
    cdef double same = 0.0
    cdef bint incomplete
    for i in range(n):
        incomplete = False
        for k in range(d):
            if isnan(x[k]):
                incomplete = True
                break
        if incomplete:
            if not given.lacks_the_same(x):
                given.add(same, total)
                same = 0.0
                given.condition(x, False)
                if given.failed:
                    return plain_expect(rows, mean, covariance, precision, weights)
            same += w[i]
            given.fill(x, False)
        x += d
    given.add(same, total)
    return expected, spread


# How some entries of rows follow from the others.


def regress(scatter, double n, penalties, int steps):
    cdef int d = len(scatter), p = len(penalties), c = d - p, i, j, step, info
    cdef double* across = _numbers(scatter, d * d) + p
    cdef double* grid = _numbers(_grid, len(_grid))
    cdef double fewest = grid[0], most = grid[len(_grid) - 1], one = 1.0, nothing = 0.0
    cdef double freedom = max(n - 1.0, 1.0), total, common, better
    cdef bint at_rest
    if c < 0:
        raise ValueError(f"there are {p} penalties for rows of {d}")
    known = np.array(penalties, dtype=float)
    coefficients, uncertainty, noise = _empty((p, c)), _empty((p, p)), _empty(c)
    cdef double* rho = _state(known, p)
    cdef double* beta = _state(coefficients, p * c)
    cdef double* left = _state(uncertainty, p * p)
    cdef double* var = _state(noise, c)
    cdef double* moved = _scratch(p)
    try:
        for step in range(steps + 1):
            for i in range(p):
                memcpy(left + i * p, across - p + i * d, p * sizeof(double))
                left[i * p + i] += rho[i]
            if p:
                dpotrf("L", &p, left, &p, &info)
                if info:
                    return plain_regress(scatter, n, penalties, steps)
                _invert_factor(left, p)
                _mirror(left, p)
            # Rows that follow each other are columns for BLAS, so that the product is transposed.
            if p and c:
                dgemm("N", "N", &c, &p, &p, &one, across, &d, left, &p, &nothing, beta, &c)
            for j in range(c):
                var[j] = across[(p + j) * d + j]
            for i in range(p):
                for j in range(c):
                    var[j] -= across[i * d + j] * beta[i * c + j]
            for j in range(c):
                var[j] = max(var[j], _LEAST_NOISE * freedom) / freedom
            if step == steps or not p:
                break
            total = 0.0
            for i in range(p):
                moved[i] = c * left[i * p + i]
                for j in range(c):
                    moved[i] += beta[i * c + j] * beta[i * c + j] / var[j]
                total += moved[i]
            common = p * c / total
            at_rest = True
            for i in range(p):
                better = min(max((c + _COMMON) / (moved[i] + _COMMON / common), fewest), most)
                # Not `>=`, because what is NaN never rests.
                at_rest = at_rest and fabs(log(better / rho[i])) < _AT_REST
                moved[i] = better
            if at_rest:
                break
            memcpy(rho, moved, p * sizeof(double))
    finally:
        free(moved)
    return coefficients, uncertainty, noise, known


def best_penalty(scatter, double n, int p):
    """With the scatter of the inputs made tridiagonal, a penalty costs as little as with one that is diagonal."""
    cdef int d = len(scatter), c = d - p, i, j, k, size = 32 * (d + 1), info = 0
    cdef double* x = _numbers(scatter, d * d)
    cdef double* grid = _numbers(_grid, len(_grid))
    cdef double freedom = max(n - 1.0, 1.0), best = -INFINITY, pivot, ratio, evidence, found = grid[0]
    if not 0 <= p <= d:
        raise ValueError(f"{p} inputs are not among {d} entries")
    cdef double* inputs = _scratch(p * p + p * c + 3 * p + 2 * c + size)
    cdef double* across = inputs + p * p
    cdef double* diagonal = across + p * c
    cdef double* beside = diagonal + p
    cdef double* reflections = beside + p
    cdef double* z = reflections + p
    cdef double* rest = z + c
    cdef double* room = rest + c
    for i in range(p):
        memcpy(inputs + i * p, x + i * d, p * sizeof(double))
        memcpy(across + i * c, x + i * d + p, c * sizeof(double))
    if p:
        dsytrd("L", &p, inputs, &p, diagonal, beside, reflections, room, &size, &info)
    if p and c:
        dormtr("R", "L", "N", &c, &p, inputs, &p, reflections, across, &c, room, &size, &info)
    for k in range(len(_grid)):
        evidence, ratio = 0.0, 0.0
        for j in range(c):
            z[j], rest[j] = 0.0, x[(p + j) * d + p + j]
        for i in range(p):
            # The pivots of a matrix without negative eigenvalues plus the penalty are no smaller than that.
            pivot = diagonal[i] + grid[k]
            if i:
                pivot = pivot - ratio * beside[i - 1]
            pivot = max(pivot, grid[k])
            for j in range(c):
                z[j] = across[i * c + j] - ratio * z[j]
                rest[j] -= z[j] * z[j] / pivot
            evidence -= c * log(pivot / grid[k])
            ratio = beside[i] / pivot if i < p - 1 else 0.0
        for j in range(c):
            evidence -= freedom * log(max(rest[j], _LEAST_NOISE * freedom))
        if evidence > best:
            best, found = evidence, grid[k]
    free(inputs)
    return found
