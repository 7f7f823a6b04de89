import CZlib

/// Unpacks gzip (RFC 1952), never more than asked for.
enum Gunzip {
    /// Whether a file begins as gzip does.
    static func isCompressed(_ bytes: [UInt8]) -> Bool { bytes.starts(with: [0x1F, 0x8B]) }

    /// The one member of a gzip file.
    ///
    /// - Throws: ``SalesReportProblem/Code/damagedArchive``, or ``SalesReportProblem/Code/tooLarge`` once `limit` bytes are
    ///   exceeded, however small the file is.
    static func unpack(_ bytes: [UInt8], limit: Int) throws(SalesReportProblem) -> [UInt8] {
        guard bytes.count <= limit else { throw SalesReportProblem(.tooLarge) }
        var stream = z_stream()
        // 15 bits of window, and 16 more for "gzip only" (zlib.h, inflateInit2).
        guard inflateInit2_(&stream, 15 + 16, ZLIB_VERSION, Int32(MemoryLayout<z_stream>.size)) == Z_OK else {
            throw SalesReportProblem(.damagedArchive)
        }
        defer { inflateEnd(&stream) }
        var input = bytes
        var output: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 64 << 10)
        let status = input.withUnsafeMutableBufferPointer { source in
            stream.next_in = source.baseAddress
            stream.avail_in = UInt32(source.count)
            return inflateAll(&stream, &chunk, &output, limit: limit)
        }
        guard output.count <= limit else { throw SalesReportProblem(.tooLarge) }
        guard status == Z_STREAM_END, stream.avail_in == 0 else { throw SalesReportProblem(.damagedArchive) }
        return output
    }

    /// Inflates until the end, a mistake, or more than `limit`. What zlib answered last.
    private static func inflateAll(
        _ stream: inout z_stream, _ chunk: inout [UInt8], _ output: inout [UInt8], limit: Int
    ) -> Int32 {
        var status = Z_OK
        while status == Z_OK, output.count <= limit {
            let produced = chunk.withUnsafeMutableBufferPointer { target in
                stream.next_out = target.baseAddress
                stream.avail_out = UInt32(target.count)
                status = inflate(&stream, Z_NO_FLUSH)
                return target.count - Int(stream.avail_out)
            }
            output += chunk[..<produced]
            // Nothing came and nothing is left to read: the file was cut off.
            if produced == 0, stream.avail_in == 0, status == Z_OK { return Z_BUF_ERROR }
        }
        return status
    }
}
