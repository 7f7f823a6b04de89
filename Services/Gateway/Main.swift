import Glibc
import Service

/// The executable `purser-gateway`.
@main
enum GatewayMain {
    static func main() {
        exit(ServiceMain.run(GatewayProgram.self))
    }
}
