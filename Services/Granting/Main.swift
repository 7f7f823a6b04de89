import Glibc
import Service

@main
enum GrantingMain {
    static func main() { exit(ServiceMain.run(GrantingProgram.self)) }
}
