import Glibc
import Service

@main
enum VerificationMain {
    static func main() { exit(ServiceMain.run(VerificationProgram.self)) }
}
