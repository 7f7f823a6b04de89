import Glibc
import Service

@main
enum IntakeMain {
    static func main() { exit(ServiceMain.run(IntakeProgram.self)) }
}
