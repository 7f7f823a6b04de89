import CMicroHTTPD

/// Reads a head from libmicrohttpd's buffer and finds out whether it was written strictly.
///
/// libmicrohttpd cuts texts at NUL bytes, takes bare line feeds for line ends, skips extra spaces and mangles folded
/// fields, all without telling. But it parses in place: if method, target, version, names and values lie in its buffer
/// at exactly the distances that one space, one colon with white space, and one CRLF make, and together fill the head's
/// size, nothing was skipped, cut or moved. Only addresses are compared; the one thing read between them is the white
/// space before a value.
struct HeadLayout {
    private(set) var fields: [(name: [UInt8], value: [UInt8])] = []
    private(set) var isContiguous = true
    private var expected: UInt
    private let limit: Int

    private init(firstField: UInt, limit: Int) {
        expected = firstField
        self.limit = limit
    }

    static func read(
        _ connection: OpaquePointer, target: [UInt8]?, url: UnsafePointer<CChar>?, method: UnsafePointer<CChar>?,
        version: UnsafePointer<CChar>?, fieldLimit: Int
    ) -> RawHead? {
        guard let target, let url, let method, let version else { return nil }
        let methodBytes = bytes(method)
        let versionText = String(cString: version)
        let start = UInt(bitPattern: method)
        let isLineExact =
            UInt(bitPattern: url) == start + UInt(methodBytes.count) + 1
            && UInt(bitPattern: version) == UInt(bitPattern: url) + UInt(target.count) + 1
        var layout = HeadLayout(
            firstField: UInt(bitPattern: version) + UInt(versionText.utf8.count) + 2, limit: fieldLimit + 1)
        withUnsafeMutablePointer(to: &layout) { pointer in
            _ = MHD_get_connection_values_n(connection, .HEADER_KIND, HeadLayout.visit, pointer)
        }
        let size = purser_mhd_header_size(connection)
        let isComplete = layout.expected + 2 == start + UInt(size)
        return RawHead(
            method: methodBytes, target: target, version: versionText, fields: layout.fields, size: size,
            isContiguous: isLineExact && layout.isContiguous && isComplete)
    }

    private static let visit: MHD_KeyValueIteratorN = { context, _, name, nameCount, value, valueCount in
        guard let context, let name else { return .NO }
        let layout = context.assumingMemoryBound(to: HeadLayout.self)
        guard layout.pointee.fields.count < layout.pointee.limit else { return .NO }
        layout.pointee.add(
            name: UnsafeBufferPointer(start: name, count: nameCount),
            value: UnsafeBufferPointer(start: value, count: value == nil ? 0 : valueCount))
        return .YES
    }

    private mutating func add(name: UnsafeBufferPointer<CChar>, value: UnsafeBufferPointer<CChar>) {
        fields.append((name.map { UInt8(bitPattern: $0) }, value.map { UInt8(bitPattern: $0) }))
        let nameStart = UInt(bitPattern: name.baseAddress)
        let valueStart = UInt(bitPattern: value.baseAddress)
        let colon = nameStart + UInt(name.count)
        guard nameStart == expected, valueStart > colon, Self.isWhiteSpace(from: colon + 1, to: valueStart) else {
            isContiguous = false
            return
        }
        expected = valueStart + UInt(value.count) + 2
    }

    /// Whether only spaces and tabs lie between two addresses of the same field.
    private static func isWhiteSpace(from start: UInt, to end: UInt) -> Bool {
        guard end - start <= UInt(HTTPServer.largestHeaderLimit) else { return false }
        guard let base = UnsafePointer<UInt8>(bitPattern: start) else { return false }
        return UnsafeBufferPointer(start: base, count: Int(end - start)).allSatisfy { $0 == 0x20 || $0 == 0x09 }
    }

    private static func bytes(_ text: UnsafePointer<CChar>) -> [UInt8] {
        Array(String(cString: text).utf8)
    }
}
