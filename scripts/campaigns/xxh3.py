"""XXH3 with 64 bits and seed 0 (https://github.com/Cyan4973/xxHash, doc/xxhash_spec.md), for forged
checksums. Slow: some 10 MB/s at most, but equal blocks are hashed once."""

import functools
import struct

MASK = (1 << 64) - 1
SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671f"
    "cb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8"
    "a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e"
    "2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e")
P32_1, P32_2, P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
P64_1, P64_2, P64_3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P64_4, P64_5 = 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5
MX1, MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
STRIPE, STRIPES_PER_BLOCK = 64, (192 - 64) // 8


def u32(data, at):
    return int.from_bytes(data[at:at + 4], "little")


def u64(data, at):
    return int.from_bytes(data[at:at + 8], "little")


def fold(a, b):
    product = a * b
    return (product & MASK) ^ (product >> 64)


def avalanche(h):
    h ^= h >> 37
    h = h * MX1 & MASK
    return h ^ h >> 32


def avalanche64(h):
    h = (h ^ h >> 33) * P64_2 & MASK
    h = (h ^ h >> 29) * P64_3 & MASK
    return h ^ h >> 32


def mix16(data, at, secret):
    return fold(u64(data, at) ^ u64(SECRET, secret), u64(data, at + 8) ^ u64(SECRET, secret + 8))


@functools.lru_cache(maxsize=1 << 12)
def xxh3(data):
    """The hash of some bytes."""
    size = len(data)
    if size == 0:
        return avalanche64(u64(SECRET, 56) ^ u64(SECRET, 64))
    if size <= 3:
        combined = data[0] << 16 | data[size >> 1] << 24 | data[-1] | size << 8
        return avalanche64(combined ^ u32(SECRET, 0) ^ u32(SECRET, 4))
    if size <= 8:
        h = (u32(data, size - 4) + (u32(data, 0) << 32)) ^ u64(SECRET, 8) ^ u64(SECRET, 16)
        rotate = lambda x, bits: (x << bits | x >> (64 - bits)) & MASK
        h ^= rotate(h, 49) ^ rotate(h, 24)
        h = h * MX2 & MASK
        h = (h ^ ((h >> 35) + size)) * MX2 & MASK
        return h ^ h >> 28
    if size <= 16:
        low = u64(data, 0) ^ u64(SECRET, 24) ^ u64(SECRET, 32)
        high = u64(data, size - 8) ^ u64(SECRET, 40) ^ u64(SECRET, 48)
        swapped = int.from_bytes(low.to_bytes(8, "little"), "big")
        return avalanche(size + swapped + high + fold(low, high) & MASK)
    if size <= 128:
        h = size * P64_1
        for pair in range((size - 1) // 32 + 1):
            h += mix16(data, 16 * pair, 32 * pair) + mix16(data, size - 16 * (pair + 1), 32 * pair + 16)
        return avalanche(h & MASK)
    if size <= 240:
        h = size * P64_1
        for piece in range(8):
            h += mix16(data, 16 * piece, 16 * piece)
        h = avalanche(h & MASK)
        for piece in range(8, size // 16):
            h += mix16(data, 16 * piece, 16 * (piece - 8) + 3)
        return avalanche(h + mix16(data, size - 16, 136 - 17) & MASK)
    return long_hash(data)


def long_hash(data):
    size = len(data)
    keys = [struct.unpack_from("<8Q", SECRET, 8 * stripe) for stripe in range(STRIPES_PER_BLOCK)]
    scramble_keys = struct.unpack_from("<8Q", SECRET, 192 - 64)
    acc = [P32_3, P64_1, P64_2, P64_3, P64_4, P32_2, P64_5, P32_1]

    def accumulate(values, keys):
        for lane in range(8):
            value = values[lane]
            key = value ^ keys[lane]
            acc[lane ^ 1] += value
            acc[lane] += (key & 0xFFFFFFFF) * (key >> 32)

    for number in range((size - 1) // STRIPE):
        accumulate(struct.unpack_from("<8Q", data, STRIPE * number), keys[number % STRIPES_PER_BLOCK])
        if number % STRIPES_PER_BLOCK == STRIPES_PER_BLOCK - 1:
            for lane in range(8):
                value = acc[lane] & MASK
                acc[lane] = (value ^ value >> 47 ^ scramble_keys[lane]) * P32_1 & MASK
    accumulate(struct.unpack_from("<8Q", data, size - STRIPE), struct.unpack_from("<8Q", SECRET, 192 - 64 - 7))
    h = size * P64_1
    for pair in range(4):
        at = 11 + 16 * pair
        h += fold(acc[2 * pair] & MASK ^ u64(SECRET, at), acc[2 * pair + 1] & MASK ^ u64(SECRET, at + 8))
    return avalanche(h & MASK)
