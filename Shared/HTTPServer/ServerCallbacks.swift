import CMicroHTTPD
import Glibc

/// The C functions libmicrohttpd calls; they find the `ServerCore` and the `Exchange` and do nothing else.
///
/// The core is passed unretained: `HTTPServer` keeps it until the daemon has stopped. An exchange is retained from
/// the request line until `completed`, which libmicrohttpd calls for every request whose line it has read.
enum ServerCallbacks {
    typealias Target =
        @convention(c) (
            UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?
        ) -> UnsafeMutableRawPointer?

    static let target: Target = { _, uri, _ in
        let bytes = uri.map { Array(UnsafeBufferPointer(start: $0, count: length($0))).map { UInt8(bitPattern: $0) } }
        return Unmanaged.passRetained(Exchange(target: bytes)).toOpaque()
    }

    static let accept: MHD_AcceptPolicyCallback = { context, address, _ in
        // Without an address (which TCP always has) nobody can be counted.
        guard let context, let address, let peer = IPAddress(address) else { return .YES }
        let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
        return core.admitsConnection(from: peer) ? .YES : .NO
    }

    static let access: MHD_AccessHandlerCallback = {
        context, connection, url, method, version, upload, uploadSize, slot in
        guard let context, let connection, let uploadSize, let pointer = slot?.pointee else { return .NO }
        let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
        let bytes = UnsafeRawBufferPointer(start: upload, count: upload == nil ? 0 : uploadSize.pointee)
        // The whole piece is always taken: what is left would be offered for ever.
        uploadSize.pointee = 0
        let call = ServerCore.Call(
            connection: connection, exchange: Unmanaged<Exchange>.fromOpaque(pointer).takeUnretainedValue(), url: url,
            method: method, version: version, upload: bytes.assumingMemoryBound(to: UInt8.self))
        return core.access(call) ? .YES : .NO
    }

    static let completed: MHD_RequestCompletedCallback = { context, connection, slot, _ in
        guard let context, let connection, let pointer = slot?.pointee else { return }
        slot?.pointee = nil
        let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
        core.completed(Unmanaged<Exchange>.fromOpaque(pointer).takeRetainedValue(), on: connection)
    }

    static let connection: MHD_NotifyConnectionCallback = { context, connection, _, event in
        guard let context, let connection else { return }
        let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
        if event == .CONNECTION_NOTIFY_STARTED {
            core.watch.opened(
                connection, socket: purser_mhd_socket(connection), peer: ServerCore.peer(of: connection),
                within: core.configuration.headDeadline)
        } else {
            core.watch.closed(connection)
        }
    }

    typealias Upgrade =
        @convention(c) (
            UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutableRawPointer?, UnsafePointer<CChar>?, Int, Int32,
            OpaquePointer?
        ) -> Void

    /// The new owner gets a descriptor of its own: so libmicrohttpd can forget the connection at once, with its memory.
    static let upgrade: Upgrade = { _, _, slot, extra, extraSize, socket, handle in
        defer { if let handle { purser_mhd_let_go(handle) } }
        guard let slot, let upgrade = Unmanaged<Exchange>.fromOpaque(slot).takeUnretainedValue().takeUpgrade() else {
            return
        }
        let descriptor = fcntl(socket, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else { return }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        let received = UnsafeBufferPointer(start: extra, count: extra == nil ? 0 : extraSize)
        upgrade.take(UpgradedSocket(descriptor: descriptor, received: received.map { UInt8(bitPattern: $0) }))
    }

    private static func length(_ text: UnsafePointer<CChar>) -> Int {
        var count = 0
        while text[count] != 0 { count += 1 }
        return count
    }
}
