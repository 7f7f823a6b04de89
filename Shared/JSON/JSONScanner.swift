/// The state of one pass over the bytes: values, containers and literals. Strings and numbers are in the extensions.
///
/// It lives only inside `withUnsafeBufferPointer` of `JSONReader`; every access is guarded by `position < end`.
struct JSONScanner {
    let base: UnsafePointer<UInt8>
    let end: Int
    let limits: JSONLimits
    var position = 0
    private var valuesLeft: Int

    /// Up to this many members a linear comparison of fingerprints is cheaper than a set of hashes.
    private static let linearKeys = 32

    init(base: UnsafePointer<UInt8>, end: Int, limits: JSONLimits) {
        self.base = base
        self.end = end
        self.limits = limits
        valuesLeft = limits.maximumValues
    }

    /// One value with white space around it and nothing else.
    mutating func document() throws(JSONError) -> JSONValue {
        if end >= 3, base[0] == 0xEF, base[1] == 0xBB, base[2] == 0xBF { throw JSONError(.byteOrderMark, offset: 0) }
        let value = try value(depth: 0)
        skipWhiteSpace()
        guard position == end else { throw JSONError(.trailingBytes, offset: position) }
        return value
    }

    private mutating func value(depth: Int) throws(JSONError) -> JSONValue {
        skipWhiteSpace()
        guard position < end else { throw JSONError(.unexpectedEnd, offset: position) }
        guard valuesLeft > 0 else { throw JSONError(.tooManyValues, offset: position) }
        valuesLeft -= 1
        switch base[position] {
        case UInt8(ascii: "\""):
            position += 1
            return .string(try string())
        case UInt8(ascii: "{"):
            return .object(try object(depth: depth + 1))
        case UInt8(ascii: "["):
            return .array(try array(depth: depth + 1))
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            return try number()
        case UInt8(ascii: "t"):
            try literal("true")
            return .bool(true)
        case UInt8(ascii: "f"):
            try literal("false")
            return .bool(false)
        case UInt8(ascii: "n"):
            try literal("null")
            return .null
        default:
            throw JSONError(.unexpectedByte, offset: position)
        }
    }

    private mutating func array(depth: Int) throws(JSONError) -> [JSONValue] {
        guard depth <= limits.maximumDepth else { throw JSONError(.tooDeep, offset: position) }
        position += 1
        skipWhiteSpace()
        if take(UInt8(ascii: "]")) { return [] }
        var elements: [JSONValue] = []
        while true {
            elements.append(try value(depth: depth))
            skipWhiteSpace()
            if take(UInt8(ascii: ",")) { continue }
            if take(UInt8(ascii: "]")) { return elements }
            throw unexpected()
        }
    }

    private mutating func object(depth: Int) throws(JSONError) -> JSONObject {
        guard depth <= limits.maximumDepth else { throw JSONError(.tooDeep, offset: position) }
        position += 1
        skipWhiteSpace()
        if take(UInt8(ascii: "}")) { return JSONObject() }
        var members: [JSONObject.Member] = []
        members.reserveCapacity(8)
        var seen: Set<ByteKey> = []
        while true {
            skipWhiteSpace()
            let start = position
            guard take(UInt8(ascii: "\"")) else { throw unexpected() }
            guard members.count < limits.maximumKeys else { throw JSONError(.tooManyKeys, offset: start) }
            let key = try string()
            let fingerprint = Fingerprint.of(key)
            guard Self.isNew(key, fingerprint, in: members, seen: &seen) else {
                throw JSONError(.duplicateKey, offset: start)
            }
            skipWhiteSpace()
            guard take(UInt8(ascii: ":")) else { throw unexpected() }
            members.append(JSONObject.Member(key: key, value: try value(depth: depth), fingerprint: fingerprint))
            skipWhiteSpace()
            if take(UInt8(ascii: ",")) { continue }
            if take(UInt8(ascii: "}")) { return JSONObject(storage: members) }
            throw unexpected()
        }
    }

    private static func isNew(
        _ key: String, _ fingerprint: UInt32, in members: [JSONObject.Member], seen: inout Set<ByteKey>
    ) -> Bool {
        guard members.count > linearKeys else {
            for member in members where member.fingerprint == fingerprint {
                if ByteKey.areEqual(member.key, key) { return false }
            }
            return true
        }
        if seen.isEmpty {
            for member in members { seen.insert(ByteKey(text: member.key)) }
        }
        return seen.insert(ByteKey(text: key)).inserted
    }

    private mutating func literal(_ word: StaticString) throws(JSONError) {
        for index in 0..<word.utf8CodeUnitCount {
            guard position < end else { throw JSONError(.unexpectedEnd, offset: end) }
            guard base[position] == word.utf8Start[index] else { throw JSONError(.unexpectedByte, offset: position) }
            position += 1
        }
    }

    @inline(__always)
    mutating func skipWhiteSpace() {
        while position < end {
            switch base[position] {
            case 0x20, 0x0A, 0x0D, 0x09: position += 1
            default: return
            }
        }
    }

    @inline(__always)
    mutating func take(_ byte: UInt8) -> Bool {
        guard position < end, base[position] == byte else { return false }
        position += 1
        return true
    }

    func unexpected() -> JSONError {
        JSONError(position < end ? .unexpectedByte : .unexpectedEnd, offset: position)
    }
}
