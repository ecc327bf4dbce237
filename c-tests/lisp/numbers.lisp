;;; One function a row of the table in docs/LISP.md: each allocates a number of objects that is known to the object.
;;; TEST calls them all with 1000; what they return is kept, so that no compiler leaves anything out.

(defstruct pt x y)
(defstruct trio a b c)
(defclass thing () ((left :initarg :left) (right :initarg :right)))

(defvar *kept* nil)

(declaim (notinline pushes collects makes-list lists doubles declared singles points trios arrays double-arrays
                    vectors strings base-strings closures complexes table factorial instances idle))

(defun pushes (n) (let ((r nil)) (dotimes (i n) (push i r)) r))
(defun collects () (loop repeat 1000 collect 1))
(defun makes-list () (setq *kept* (make-list 1000)))
(defun lists (n) (let ((r nil)) (dotimes (i n) (setq r (list i i i))) r))
(defun doubles (n) (let ((s 0d0)) (dotimes (i n) (setq s (+ s 1.5d0))) s))
(defun declared (n) (let ((s 0d0)) (declare (type double-float s)) (dotimes (i n) (setq s (+ s 1.5d0))) s))
(defun singles (n) (let ((s 0f0)) (dotimes (i n) (setq s (+ s 1.5f0))) s))
(defun points (n) (let ((r nil)) (dotimes (i n) (setq r (make-pt :x i :y i))) r))
(defun trios (n) (let ((r nil)) (dotimes (i n) (setq r (make-trio :a i :b i :c i))) r))
(defun arrays (n) (let ((r nil)) (dotimes (i n) (setq r (make-array 10))) r))
(defun double-arrays (n)
  (let ((r nil)) (dotimes (i n) (setq r (make-array 10 :element-type 'double-float))) r))
(defun vectors (n) (let ((r nil)) (dotimes (i n) (setq r (vector i i i))) r))
(defun strings (n) (let ((r nil)) (dotimes (i n) (setq r (make-string 10))) r))
(defun base-strings (n)
  (let ((r nil)) (dotimes (i n) (setq r (make-string 10 :element-type 'base-char))) r))
(defun closures (n) (let ((r nil)) (dotimes (i n) (let ((j i)) (setq r (lambda () (incf j))))) r))
(defun complexes (n) (let ((r nil)) (dotimes (i n) (setq r (complex i 1))) r))
(defun table (n) (let ((h (make-hash-table))) (dotimes (i n) (setf (gethash i h) i)) h))
(defun factorial (n) (if (< n 2) 1 (* n (factorial (1- n)))))
(defun instances (n) (let ((r nil)) (dotimes (i n) (setq r (make-instance 'thing :left i :right i))) r))
(defun idle (n) (dotimes (i n) (/ (1+ i) 7919)))

(defun test (n)
  (setq *kept*
        (list (pushes n) (collects) (makes-list) (lists n) (doubles n) (declared n) (singles n) (points n) (trios n)
              (arrays n) (double-arrays n) (vectors n) (strings n) (base-strings n) (closures n) (complexes n)
              (table n) (factorial 50) (instances n) (idle n)))
  (format t "~a ~a ~a~%" (length *kept*) (nth 4 *kept*) (nth 17 *kept*)))

(test 1000)
