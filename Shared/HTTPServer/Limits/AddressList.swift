/// Addresses and networks an operator has named, such as `127.0.0.1, 10.0.0.0/8, 2001:db8::/32`.
public struct AddressList: Sendable, Equatable {
    /// One entry that cannot be read.
    public struct Unreadable: Error, Sendable, Equatable {
        /// The entry as it was written.
        public let entry: String

        /// An entry.
        public init(entry: String) { self.entry = entry }
    }

    private struct Range: Sendable, Equatable {
        let first: IPAddress
        let highMask: UInt64
        let lowMask: UInt64

        func contains(_ address: IPAddress) -> Bool {
            address.high & highMask == first.high && address.low & lowMask == first.low
        }
    }

    private let ranges: [Range]

    /// A list that contains nothing.
    public init() { ranges = [] }

    /// Reads entries separated by commas or white space; an empty text is an empty list. An entry whose address has bits
    /// behind its prefix (`10.0.0.1/8`) is refused: it is a mistake more often than not.
    public init(_ text: String) throws(Unreadable) {
        var ranges: [Range] = []
        for entry in text.split(whereSeparator: { $0 == "," || $0.isWhitespace }) {
            guard let range = Self.range(entry) else { throw Unreadable(entry: String(entry)) }
            ranges.append(range)
        }
        self.ranges = ranges
    }

    /// Whether it names nothing.
    public var isEmpty: Bool { ranges.isEmpty }

    /// Whether the address is one of these or lies in one of these networks.
    public func contains(_ address: IPAddress) -> Bool { ranges.contains { $0.contains(address) } }

    private static func range(_ entry: Substring) -> Range? {
        let parts = entry.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let address = IPAddress(String(first)) else { return nil }
        // The prefix of an IPv4 network counts from the start of its last 32 bits.
        let isWrittenAsIPv4 = !first.contains(":")
        var length = 128
        if parts.count == 2 {
            guard let written = Int(parts[1]), parts[1].allSatisfy({ $0.isASCII && $0.isNumber }),
                (0...(isWrittenAsIPv4 ? 32 : 128)).contains(written)
            else { return nil }
            length = isWrittenAsIPv4 ? 96 + written : written
        }
        let highMask = mask(min(length, 64))
        let lowMask = mask(max(length - 64, 0))
        guard address.high & ~highMask == 0, address.low & ~lowMask == 0 else { return nil }
        return Range(first: address, highMask: highMask, lowMask: lowMask)
    }

    /// A word whose first `length` bits (0…64) are set.
    private static func mask(_ length: Int) -> UInt64 { length == 0 ? 0 : ~0 << UInt64(64 - length) }
}
