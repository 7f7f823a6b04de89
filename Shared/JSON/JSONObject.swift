/// The members of a JSON object in the order they were written.
///
/// Small objects are the rule, so look-up is linear: a key is compared by a 32-bit fingerprint first and byte by byte
/// then. Bytes, not Swift's canonical equivalence: `K` and the Kelvin sign are different keys, as for every other
/// parser. Equality of objects respects the order of their members.
public struct JSONObject: Sendable, Equatable {
    struct Member: Sendable, Equatable {
        var key: String
        var value: JSONValue
        var fingerprint: UInt32
    }

    var storage: [Member]

    /// An object without members.
    public init() {
        storage = []
    }

    /// The members in order; of two equal keys the later value stays.
    public init(_ members: [(key: String, value: JSONValue)]) {
        storage = []
        storage.reserveCapacity(members.count)
        for (key, value) in members { set(key, value) }
    }

    init(storage: [Member]) {
        self.storage = storage
    }

    /// The number of members.
    public var count: Int { storage.count }

    /// Whether there are no members.
    public var isEmpty: Bool { storage.isEmpty }

    /// The keys in order.
    public var keys: [String] { storage.map(\.key) }

    /// The members in order.
    public var members: [(key: String, value: JSONValue)] { storage.map { ($0.key, $0.value) } }

    /// The value of a key, or nil if the key is absent; a `null` that was written is `.null`.
    public subscript(key: String) -> JSONValue? {
        guard let index = index(of: key) else { return nil }
        return storage[index].value
    }

    /// Replaces the value of a key in place, or appends a member.
    public mutating func set(_ key: String, _ value: JSONValue) {
        if let index = index(of: key) {
            storage[index].value = value
        } else {
            storage.append(Member(key: key, value: value, fingerprint: Fingerprint.of(key)))
        }
    }

    private func index(of key: String) -> Int? {
        let fingerprint = Fingerprint.of(key)
        for index in storage.indices where storage[index].fingerprint == fingerprint {
            if ByteKey.areEqual(storage[index].key, key) { return index }
        }
        return nil
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// An object; of two equal keys the later value stays.
    public init(dictionaryLiteral elements: (String, JSONValue)...) {
        self.init(elements.map { (key: $0.0, value: $0.1) })
    }
}

/// 32 bits that tell most keys apart: the length and three sampled bytes. No protection against collisions made on
/// purpose is needed, because large objects are checked with a seeded hash instead.
enum Fingerprint {
    static func of(_ key: String) -> UInt32 {
        var key = key
        return key.withUTF8 { of($0) }
    }

    @inline(__always)
    static func of(_ bytes: UnsafeBufferPointer<UInt8>) -> UInt32 {
        let count = bytes.count
        guard count > 0 else { return 0 }
        let length = UInt32(truncatingIfNeeded: count) << 24
        return length | UInt32(bytes[0]) << 16 | UInt32(bytes[count / 2]) << 8 | UInt32(bytes[count - 1])
    }
}

/// A key that is equal and hashed by its UTF-8 bytes (with the process's random seed).
struct ByteKey: Hashable {
    let text: String

    static func == (left: ByteKey, right: ByteKey) -> Bool {
        areEqual(left.text, right.text)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }

    static func areEqual(_ left: String, _ right: String) -> Bool {
        var left = left
        var right = right
        return left.withUTF8 { leftBytes in
            right.withUTF8 { rightBytes in
                leftBytes.count == rightBytes.count && leftBytes.elementsEqual(rightBytes)
            }
        }
    }
}
