/// Walks over protobuf before libprotobuf-c reads it, which copies every field it does not know: a megabyte of two-byte
/// fields would become forty.
enum WireScan {
    /// A history has a hundred records; nothing else comes near.
    static let maximumFields = 1_024

    static func check(_ bytes: ArraySlice<UInt8>) throws(GameMessageError) {
        var rest = bytes
        var fields = 0
        while !rest.isEmpty {
            fields += 1
            guard fields <= maximumFields else { throw .tooManyFields }
            let tag = try varint(&rest)
            switch tag & 7 {
            case 0: _ = try varint(&rest)
            case 1: try skip(&rest, 8)
            case 2: try skip(&rest, try varint(&rest))
            case 5: try skip(&rest, 4)
            default: throw .malformed
            }
        }
    }

    private static func varint(_ rest: inout ArraySlice<UInt8>) throws(GameMessageError) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), through: 63, by: 7) {
            guard let byte = rest.popFirst() else { throw .malformed }
            value |= UInt64(byte & 0x7F) << shift
            if byte < 0x80 { return value }
        }
        throw .malformed
    }

    private static func skip(_ rest: inout ArraySlice<UInt8>, _ count: UInt64) throws(GameMessageError) {
        guard count <= UInt64(rest.count) else { throw .malformed }
        rest = rest.dropFirst(Int(count))
    }
}
